/**
 * Habits of existing clients that an application may keep, as one table. Every one is off unless set, since R4 is the
 * default (settled.md "FHIR").
 */
import { fail } from '../base/errors.ts';

interface SettingRow {
  readonly meaning: string;
}

export const applicationSettings = {
  totalOfPage: { meaning: 'Bundle.total counts the rows of the page, not of the whole search.' },
  lenientSearch: { meaning: 'Unknown search parameters are ignored, as with Prefer: handling=lenient.' },
  absoluteReferences: { meaning: 'References in answers are absolute URLs.' },
  unversionedLocation: { meaning: 'Location after a write ends in the id of the resource, without its version.' },
} as const satisfies Record<string, SettingRow>;

export type SettingName = keyof typeof applicationSettings;
export type ApplicationSettings = { readonly [N in SettingName]: boolean };

export const settingNames = Object.keys(applicationSettings) as readonly SettingName[];

/** All settings of an application from its stored JSON; what is not stored is off. */
export function readSettings(stored: Readonly<Record<string, unknown>>): ApplicationSettings {
  const { totalOfPage, lenientSearch, absoluteReferences, unversionedLocation } = stored;
  return {
    totalOfPage: totalOfPage === true,
    lenientSearch: lenientSearch === true,
    absoluteReferences: absoluteReferences === true,
    unversionedLocation: unversionedLocation === true,
  };
}

/**
 * Settings to store.
 * @throws PraxisError `rule-broken` for an unknown name or a value other than true and false
 */
export function requireSettings(given: Readonly<Record<string, unknown>>): Partial<ApplicationSettings> {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(applicationSettings, name)) {
      fail('rule-broken', {
        diagnostics: `${JSON.stringify(name)} is not an application setting; known are ${settingNames.join(', ')}`,
        expression: ['settings'],
      });
    }
    if (typeof value !== 'boolean')
      fail('rule-broken', { diagnostics: `setting ${name} must be true or false`, expression: ['settings'] });
  }
  return { ...given };
}

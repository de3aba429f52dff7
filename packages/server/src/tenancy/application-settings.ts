/**
 * Habits of existing clients that an application may keep, as one table. Every one is off unless set, since R4 is the
 * default (docs/integrate/contract.md#fhir); none stores or returns what is not R4 (docs/decisions/0206).
 * docs/practice/application-settings.md is printed from it.
 */
import { fail } from '../base/errors.ts';

interface SettingRow {
  readonly meaning: string;
  /** What existing clients do, or were told, that it is for. */
  readonly habit: string;
}

export const applicationSettings = {
  totalOfPage: {
    meaning: 'Bundle.total counts the rows of the page, not of the whole search.',
    habit: 'A page with a total of 0 ends a search.',
  },
  nextUntilEmpty: {
    meaning:
      'Every page of a search of one type that has rows has a link next, the last one too; a page without rows has none.',
    habit: 'The link next is taken without asking whether it is there, until a page is empty.',
  },
  lenientSearch: {
    meaning: 'Unknown search parameters are ignored, as with Prefer: handling=lenient.',
    habit: 'Parameters are sent along that the service need not know.',
  },
  absoluteReferences: {
    meaning: 'References in answers are absolute URLs.',
    habit:
      'A practitioner is told from a location by /Practitioner/ and /Location/ inside a reference, which is dereferenced as given.',
  },
  referenceDisplays: {
    meaning: 'A reference in an answer that has nothing beside it has its absolute URL as display.',
    habit: 'Display is read where it repeats the URL.',
  },
  unversionedLocation: {
    meaning: 'Location after a write ends in the id of the resource, without its version.',
    habit: 'The id is taken as the last segment of the path.',
  },
  textMinutes: {
    meaning: 'Appointment.minutesDuration may be sent as a string of digits; it is stored as the number.',
    habit: 'The documented example of a create has it as a string.',
  },
  impliedParticipantStatus: {
    meaning:
      'A participant of an Appointment may be sent without status: needs-action while the appointment is proposed or pending, else accepted.',
    habit: 'The documented example of a create has none.',
  },
  upperCaseStatus: {
    meaning:
      'status, clinicalStatus and verificationStatus may be sent in capitals, with _ for a hyphen; stored are the codes of R4.',
    habit: 'The status of a Condition reads ACTIVE, and is sent back so.',
  },
  partialPut: {
    meaning:
      'A PUT to a resource that is there changes the top-level elements that it sends and leaves the others; id may be missing.',
    habit: 'A Patient is sent with its telecom only, an Appointment with its status only.',
  },
  lenientInvariants: {
    meaning:
      'A resource that breaks invariants of R4 is stored nevertheless; Prefer: return=OperationOutcome tells each as a warning.',
    habit: 'An Appointment is sent with a start and without an end, a Period that ends before it starts.',
  },
  emptyElements: {
    meaning:
      'Empty strings, arrays and objects may be sent in resources, and null; they are left out, and what is empty without them, too.',
    habit: 'A Patient is sent with telecom [] and birthDate "" where nothing is known.',
  },
  hyphenForBar: {
    meaning: 'A | in the id of a path stands for a hyphen.',
    habit: 'The id of a ChargeItem is a prefix, a bar and a number.',
  },
  uploadUrlInOutcome: {
    meaning:
      'A create of a Binary that asks for a URL is answered with it as details.text of an OperationOutcome; the body {} asks for one, too.',
    habit: 'An empty object is sent, and the URL is read from the first issue.',
  },
  halfOpenSlots: {
    meaning:
      'A search for slots may leave out an end of its window: it begins now, and ends after as many days as a search may span.',
    habit: 'Slots are asked for by start=le… alone, or without any date.',
  },
  expandedTypes: {
    meaning:
      'A read of ValueSet/appointment-type has its expansion, in which each type has its minutes as an extension and as a property.',
    habit: 'Types are read from the expansion, and their length from a property duration.',
  },
  anyFormType: {
    meaning: 'A refresh of the legacy flow may have any Content-Type; the body is a form nevertheless.',
    habit: 'A header of the calls, application/fhir+json, is sent with the refresh, too.',
  },
} as const satisfies Record<string, SettingRow>;

export type SettingName = keyof typeof applicationSettings;
export type ApplicationSettings = { readonly [N in SettingName]: boolean };

export const settingNames = Object.keys(applicationSettings) as readonly SettingName[];

/** Every setting with what it means and whether it is on, in the order of the table. */
export function describeSettings(settings: ApplicationSettings) {
  return settingNames.map((name) => ({ name, on: settings[name], ...applicationSettings[name] }));
}

/** All settings of an application from its stored JSON; what is not stored is off. */
export function readSettings(stored: Readonly<Record<string, unknown>>): ApplicationSettings {
  const isOn = (name: SettingName): boolean => stored[name] === true;
  return {
    totalOfPage: isOn('totalOfPage'),
    nextUntilEmpty: isOn('nextUntilEmpty'),
    lenientSearch: isOn('lenientSearch'),
    absoluteReferences: isOn('absoluteReferences'),
    referenceDisplays: isOn('referenceDisplays'),
    unversionedLocation: isOn('unversionedLocation'),
    textMinutes: isOn('textMinutes'),
    impliedParticipantStatus: isOn('impliedParticipantStatus'),
    upperCaseStatus: isOn('upperCaseStatus'),
    partialPut: isOn('partialPut'),
    lenientInvariants: isOn('lenientInvariants'),
    emptyElements: isOn('emptyElements'),
    hyphenForBar: isOn('hyphenForBar'),
    uploadUrlInOutcome: isOn('uploadUrlInOutcome'),
    halfOpenSlots: isOn('halfOpenSlots'),
    expandedTypes: isOn('expandedTypes'),
    anyFormType: isOn('anyFormType'),
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

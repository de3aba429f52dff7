import type { Appointment, Identifier } from '@praxis/fhir';
/**
 * What makes appointments a series: an identifier that all of them share, which also says when each was to begin at first, so
 * that one that was moved keeps its place (docs/decisions/0201).
 */

export const seriesSystem = 'https://praxis.health/fhir/sid/appointment-series';

/** Extension of that identifier: the start that the series gave to the appointment. */
export const seriesStartUrl = 'https://praxis.health/fhir/StructureDefinition/appointment-series-start';

export interface SeriesPlace {
  /** What the appointments of the series share. */
  readonly series: string;
  /** When this one was to begin at first. */
  readonly startMs: number;
}

/** @param start a FHIR instant */
export function buildSeriesIdentifier(series: string, start: string): Identifier {
  return { extension: [{ url: seriesStartUrl, valueInstant: start }], system: seriesSystem, value: series };
}

/** Where the appointment stands in its series; undefined: it is part of none. */
export function findSeriesPlace({ identifier = [], start }: Appointment): SeriesPlace | undefined {
  const own = identifier.find(({ system }) => system === seriesSystem);
  const series = own?.value;
  if (series === undefined) return undefined;
  const extension = own?.extension?.find(({ url }) => url === seriesStartUrl);
  // Without the extension, which a client may have dropped, it is where it stands now.
  const startMs = Date.parse(extension?.valueInstant ?? start ?? '');
  return Number.isNaN(startMs) ? undefined : { series, startMs };
}

/**
 * Media types of request bodies (https://hl7.org/fhir/R4/http.html#mime-type). Those of answers: `answer-format.ts`.
 */
import { fail } from '../../base/errors.ts';
import {
  buildJsonRequest,
  buildOperationRequest,
  buildSearchRequest,
  fhirJsonType,
  makeLargePatient,
  makeMany,
  makeManyValues,
  type WorstCase,
} from '../../base/worst-case.ts';
import type { FormatKind } from '../answer/answer-format.ts';
import { isServedVersion, parseCharset, parseMediaType } from './media-types.ts';

/** Media types of resources; `application/*+fhir` are those of earlier versions of FHIR. */
const resourceTypes: ReadonlyMap<string, FormatKind> = new Map([
  ['application/fhir+json', 'json'],
  ['application/json', 'json'],
  ['application/json+fhir', 'json'],
  ['application/fhir+xml', 'xml'],
  ['application/xml', 'xml'],
  ['text/xml', 'xml'],
  ['application/xml+fhir', 'xml'],
]);

/** `application/json` alone does not tell a JSON Patch from a Parameters resource. */
const genericTypes: ReadonlySet<string> = new Set(['application/json', 'application/xml', 'text/xml']);
const formType = 'application/x-www-form-urlencoded';
const jsonPatchType = 'application/json-patch+json';

/** The format of a resource body, and whether its media type says that it is FHIR's; undefined for other types. */
export function findResourceFormat(contentType: string | undefined): { kind: FormatKind; isFhir: boolean } | undefined {
  const type = parseMediaType(contentType);
  const kind = resourceTypes.get(type);
  return kind && { kind, isFhir: !genericTypes.has(type) };
}

/**
 * The format of a resource body.
 * @throws PraxisError `media-type-unsupported`
 */
export function requireResourceFormat(contentType: string | undefined): FormatKind {
  const format = findResourceFormat(contentType);
  if (format === undefined) {
    const sent = parseMediaType(contentType) === '' ? 'none was sent' : 'not what was sent';
    fail('media-type-unsupported', {
      diagnostics: `Content-Type must be application/fhir+json (or application/json) or application/fhir+xml (or application/xml), ${sent}`,
    });
  }
  requireServedVersion(contentType);
  requireUtf8(contentType);
  return format.kind;
}

/**
 * Checks the Content-Type of a search form.
 * @throws PraxisError `media-type-unsupported`
 */
export function requireFormBody(contentType: string | undefined): void {
  if (parseMediaType(contentType) !== formType)
    fail('media-type-unsupported', { diagnostics: `Content-Type of POST _search must be ${formType}` });
  requireUtf8(contentType);
}

/** What a PATCH body is. */
export interface PatchFormat {
  readonly kind: 'json-patch' | 'fhirpath-patch';
  readonly format: FormatKind;
}

/**
 * The kind of patch that a PATCH body is, by its Content-Type (https://hl7.org/fhir/R4/http.html#patch).
 * @throws PraxisError `media-type-unsupported`
 */
export function requirePatchFormat(contentType: string | undefined): PatchFormat {
  if (parseMediaType(contentType) === jsonPatchType) return { kind: 'json-patch', format: 'json' };
  const format = findResourceFormat(contentType);
  if (format?.isFhir) return { kind: 'fhirpath-patch', format: format.kind };
  return fail('media-type-unsupported', {
    diagnostics: `Content-Type of PATCH must be ${jsonPatchType} (JSON Patch) or application/fhir+json or application/fhir+xml (FHIRPath Patch in Parameters)`,
  });
}

function requireServedVersion(contentType: string | undefined): void {
  if (!isServedVersion(contentType ?? ''))
    fail('media-type-unsupported', { diagnostics: 'Content-Type must not name a fhirVersion other than 4.0' });
}

function requireUtf8(contentType: string | undefined): void {
  const charset = parseCharset(contentType);
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    fail('media-type-unsupported', { diagnostics: 'Content-Type must not name a charset other than UTF-8' });
  }
}

/** What a body may be, by its media type. */
export type BodyFormat = FormatKind | 'form' | PatchFormat['kind'];

/** By body format, what is dear to read. */
export const bodyFormats: Readonly<Record<BodyFormat, { readonly worstCase: WorstCase }>> = {
  json: {
    worstCase: {
      because: 'as many members as a body holds, all unknown (F12)',
      request: () => {
        const members = makeMany(300_000, (number) => `"k${number}":1`).join(',');
        const body = `{"resourceType":"Patient",${members}}`;
        return { method: 'POST', path: 'Patient', contentType: fhirJsonType, body };
      },
    },
  },
  xml: {
    worstCase: {
      because: 'as many elements as a body holds',
      request: () => {
        const name = (number: number) => `<name><family value="F${number}"/><given value="G"/></name>`;
        const body = `<Patient xmlns="http://hl7.org/fhir">${makeMany(15_000, name).join('')}</Patient>`;
        return { method: 'POST', path: 'Patient', contentType: 'application/fhir+xml', body };
      },
    },
  },
  form: {
    worstCase: {
      because: 'as many parameters as a search takes, each with as many values as a parameter takes (F7)',
      request: () => {
        const codes = makeMany(50, () => makeManyValues('code', (n) => `http://loinc.org|${n}`));
        return buildSearchRequest('Observation', codes.join('&'));
      },
    },
  },
  'json-patch': {
    worstCase: {
      because: 'copies of copies, and comparisons of what they made',
      stored: () => [makeLargePatient('siege-copied', 100)],
      request: () => {
        const copies = makeMany(500, () => ({ op: 'copy', from: '/name', path: '/name/0/extension' }));
        const tests = makeMany(500, () => ({ op: 'test', path: '/name', value: [] }));
        return buildJsonRequest('PATCH', 'Patient/siege-copied', [...copies, ...tests], 'application/json-patch+json');
      },
    },
  },
  'fhirpath-patch': {
    worstCase: {
      because: 'as many operations as a patch holds, each over all elements (F6)',
      stored: () => [makeLargePatient('siege-patched', 1_000)],
      request: () => {
        const operation = {
          name: 'operation',
          part: [
            { name: 'type', valueCode: 'delete' },
            { name: 'path', valueString: "Patient.name.where(family = 'none').given" },
          ],
        };
        const operations = makeMany(1_000, () => operation);
        return { ...buildOperationRequest('Patient/siege-patched', operations), method: 'PATCH' };
      },
    },
  },
};

/**
 * How resources refer to content that lies here (docs/decisions/0193). Stored is a name that holds wherever the service is
 * reached, `urn:praxis:content:{id}`; written and shown is a URL below the firm's path. Who reads a resource gets URLs that
 * open without any header for a while; who finds it by a search, or has just written it, gets them without that.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@praxis/fhir';

/** The segment of the path that content lies below, beside `fhir/v2`. */
export const contentSegment = 'content';

const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

export const contentIdPattern = new RegExp(`^${id}$`);

/** As the whole value of a string in a JSON text without spaces: inside a string the quotes would be escaped. */
const storedName = new RegExp(`"urn:praxis:content:(${id})"`, 'g');
const storedMark = '"urn:praxis:content:';

/** Where the firm's content lies, absolute. @param baseUrl the FHIR base of the firm */
export function buildContentBase(baseUrl: string): string {
  return `${baseUrl.slice(0, -'/fhir/v2'.length)}/${contentSegment}`;
}

/** Of each URL of content: so short that a text is looked through in a fraction of the time. */
const urlMark = `/${contentSegment.slice(0, 4)}`;

/** The JSON text with the URLs of the firm's content, with or without a query, as they are stored. */
export function withStoredNames(text: string, baseUrl: string): string {
  if (!text.includes(urlMark)) return text;
  const base = buildContentBase(baseUrl);
  if (!text.includes(`"${base}/`)) return text;
  const pattern = new RegExp(`"${RegExp.escape(base)}/(${id})(?:\\?[^"\\\\]*)?"`, 'g');
  return text.replace(pattern, '"urn:praxis:content:$1"');
}

/** The JSON text with each stored name as the URL that `urlOf` gives; the text itself where there is none. */
export function withContentUrls(text: string, urlOf: (id: string) => string): string {
  if (!holdsContent(text)) return text;
  return text.replace(storedName, (_name, content: string) => JSON.stringify(urlOf(content)));
}

/** A quick look at a JSON text. */
export function holdsContent(text: string): boolean {
  return text.includes(storedMark);
}

/** A place in a resource that refers to content. */
export interface ContentReference {
  readonly id: string;
  /** `DocumentReference.content[0].attachment.url` */
  readonly path: string;
  /** The Attachment whose url it is; undefined elsewhere. */
  readonly attachment: JsonObject | undefined;
}

/** All of them, in the order of the resource. */
export function listContentReferences(resource: JsonObject, type: string): readonly ContentReference[] {
  const found: ContentReference[] = [];
  const visit = (value: JsonValue, path: string, parent: JsonObject): void => {
    if (typeof value === 'string') {
      const [, content] = /^urn:praxis:content:(.*)$/.exec(value) ?? [];
      const attachment = path.endsWith('.url') ? parent : undefined;
      if (content !== undefined) found.push({ id: content, path, attachment });
    } else if (Array.isArray(value)) {
      for (const [at, each] of value.entries()) visit(each, `${path}[${at}]`, parent);
    } else if (isJsonObject(value)) {
      for (const [name, each] of Object.entries(value)) visit(each, `${path}.${name}`, value);
    }
  };
  visit(resource, type, resource);
  return found;
}

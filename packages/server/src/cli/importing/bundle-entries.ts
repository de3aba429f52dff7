/**
 * Bundles that carry resources to be stored each on its own: collection, batch, transaction. Bundles of the other types mean
 * something as a whole (a document, a message, the answer to a search) and are stored as they are.
 * https://hl7.org/fhir/R4/bundle.html · https://hl7.org/fhir/R4/http.html#transaction
 *
 * An import stores resources and executes nothing: entries that ask for something else than storing are refused.
 */
import { isJsonObject, type JsonObject, type JsonValue, validateResource } from '@praxis/fhir';
import { withPlaceholders } from '../../bundle/bundle-skeleton.ts';
import { type LinkRules, withLinks } from '../../bundle/links.ts';

interface ImportedEntry {
  /** `Bundle.entry[3]` */
  readonly path: string;
  /** With an id, and with links to other entries rewritten. */
  readonly resource: JsonObject;
}

interface BundleProblem {
  /** Begins with the path of the element. */
  readonly diagnostics: string;
  /** What else is wrong with the same entry, or with the Bundle. */
  readonly more: readonly string[];
}

const unpackedTypes: ReadonlySet<string> = new Set(['collection', 'batch', 'transaction']);
const storingMethods: ReadonlySet<string> = new Set(['POST', 'PUT']);
/** Elements of Bundle.entry.request that make storing depend on what is there. */
const conditionNames = ['ifNoneExist', 'ifMatch', 'ifNoneMatch', 'ifModifiedSince'] as const;
const issuesMax = 1000;

/** Whether the entries of `resource` are stored rather than `resource` itself. */
export function isUnpacked(resource: JsonObject): boolean {
  return resource.resourceType === 'Bundle' && typeof resource.type === 'string' && unpackedTypes.has(resource.type);
}

/**
 * The resources of a Bundle that `isUnpacked`, in their order, and the entries that cannot be stored. Resources are not
 * validated here, but the Bundle around them is: when that is invalid, nothing of it is stored.
 * @param newId makes the id of a resource that has none
 */
export function readBundleContent(
  bundle: JsonObject,
  newId: () => string,
): { readonly entries: readonly ImportedEntry[]; readonly problems: readonly BundleProblem[] } {
  const [first, ...more] = validateResource(withPlaceholders(bundle), { type: 'Bundle', issuesMax })
    .filter(({ severity }) => severity === 'error')
    .map(({ diagnostics }) => diagnostics);
  if (first !== undefined) return { entries: [], problems: [{ diagnostics: first, more }] };
  const problems: BundleProblem[] = [];
  const refuse = (diagnostics: string): undefined => void problems.push({ diagnostics, more: [] });
  const all = Array.isArray(bundle.entry) ? bundle.entry.filter(isJsonObject) : [];
  const identified = all.flatMap(
    (entry, index) => identifiedEntry(entry, `Bundle.entry[${index}]`, newId, refuse) ?? [],
  );
  const targets = new Map<string, string>();
  const distinct = identified.filter((entry) => hasOwnUrl(entry, targets, refuse));
  // Addresses are links, too. Elements of type uri stay: in stored resources they identify things (Identifier.system,
  // ValueSet.url) rather than point to them.
  const rules: LinkRules = { types: new Set(['url']), target: (link) => targets.get(link) };
  const linked = (resource: JsonObject) => (targets.size === 0 ? resource : withLinks(resource, rules));
  return { entries: distinct.map(({ path, resource }) => ({ path, resource: linked(resource) })), problems };
}

interface IdentifiedEntry extends ImportedEntry {
  readonly fullUrl: JsonValue | undefined;
  /** `Patient/123` */
  readonly link: string;
}

/** The entry with an id for its resource: its own, that of the URL it is put to, that of its fullUrl, or a new one. */
function identifiedEntry(
  entry: JsonObject,
  path: string,
  newId: () => string,
  refuse: (diagnostics: string) => undefined,
): IdentifiedEntry | undefined {
  const { resource, request, fullUrl } = entry;
  const { method, url, ...conditions } = isJsonObject(request) ? request : {};
  if (typeof method === 'string' && !storingMethods.has(method))
    return refuse(`${path}.request.method: ${method} is not executed by an import`);
  if (typeof url === 'string' && url.includes('$'))
    return refuse(`${path}.request.url: operations are not executed by an import`);
  const [condition] = conditionNames.filter((name) => conditions[name] !== undefined);
  if (condition !== undefined) return refuse(`${path}.request.${condition}: conditions are not executed by an import`);
  if (typeof url === 'string' && url.includes('?'))
    return refuse(`${path}.request.url: conditions are not executed by an import`);
  if (!isJsonObject(resource)) return refuse(`${path}.resource: is missing, so there is nothing to store`);
  const type = String(resource.resourceType);
  const putId = method === 'PUT' ? idAtEnd(url, type) : undefined;
  const id = resource.id ?? putId ?? idAtEnd(fullUrl, type) ?? newId();
  if (putId !== undefined && putId !== id)
    return refuse(`${path}.request.url: names ${type}/${putId}, but the resource has another id`);
  return { path, resource: { ...resource, id }, fullUrl, link: `${type}/${String(id)}` };
}

/** The id in `Patient/123` or `https://example.com/fhir/Patient/123`, when it is one of `type`. */
function idAtEnd(url: JsonValue | undefined, type: string): string | undefined {
  const [, named, id] =
    typeof url === 'string' ? (/(?:^|\/)([A-Z][A-Za-z]*)\/([A-Za-z0-9\-.]{1,64})$/.exec(url) ?? []) : [];
  return named === type ? id : undefined;
}

/** Notes where the entry's `urn:` fullUrl leads; false, with a problem, when it leads to another entry already. */
function hasOwnUrl(
  { path, fullUrl, link }: IdentifiedEntry,
  targets: Map<string, string>,
  refuse: (diagnostics: string) => undefined,
): boolean {
  if (typeof fullUrl !== 'string' || !/^urn:(?:uuid|oid):/.test(fullUrl)) return true;
  const other = targets.get(fullUrl);
  if (other !== undefined && other !== link) {
    refuse(`${path}.fullUrl: is that of another entry: links to it are ambiguous`);
    return false;
  }
  targets.set(fullUrl, link);
  return true;
}

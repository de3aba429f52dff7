/**
 * The syntax of references and the type they may point to.
 *
 * https://hl7.org/fhir/R4/references.html#literal
 */
import type { JsonObject } from '../json.ts';
import { type Place, quoteText, type Run, report, stepInto } from './issue.ts';
import { isId } from './primitives.ts';
import { explainUnknownType, isResourceType } from './resource-types.ts';
import { type ResourceScope, useFragment } from './scope.ts';

const relative = /^([^/?#]*)\/([^/?#]*)(?:\/_history\/([^/?#]*))?$/;
const conditional = /^([A-Za-z]+)\?\S+$/;
const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s\u0000-\u001f]+$/;
/** The end of a RESTful URL: type, id and version. */
const restfulEnd = /\/([A-Z][A-Za-z]*)\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/;
const urnUuid = /^urn:uuid:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;
const urnOid = /^urn:oid:[0-2](?:\.(?:0|[1-9][0-9]*))+$/;

/** What a literal reference says: the type it points to if that can be told, or what is wrong with it. */
interface Literal {
  readonly type?: string;
  readonly problem?: string;
}

/** What a Reference may point to; undefined: anything. */
type Targets = readonly string[] | undefined;

/** Checks a Reference whose structure is right: its literal, its type, and both against the allowed targets. */
export function checkReference(run: Run, value: JsonObject, place: Place, targets: Targets): void {
  const { reference, type } = value;
  let target: string | undefined;
  if (typeof reference === 'string' && reference !== '') {
    const literal = readLiteral(reference, run.scope);
    if (literal.problem !== undefined) {
      report(run, 'reference', stepInto(place, 'reference'), literal.problem);
      return;
    }
    target = literal.type;
    checkTarget(run, target, targets, place, 'reference');
  }
  if (typeof type === 'string' && type !== '') checkType(run, type, target, targets, place);
}

function checkType(run: Run, type: string, target: string | undefined, targets: Targets, place: Place): void {
  const typePlace = stepInto(place, 'type');
  if (type.includes(':')) return; // the canonical URL of a logical model
  if (!isResourceType(type)) report(run, 'reference-target', typePlace, explainUnknownType(type));
  else if (target !== undefined && target !== type) {
    report(run, 'reference-target', typePlace, `must agree with the reference: ${type} is not ${target}`);
  } else if (target === undefined) checkTarget(run, type, targets, place, 'type');
}

function checkTarget(run: Run, target: string | undefined, targets: Targets, place: Place, name: string): void {
  if (target === undefined || targets === undefined || targets.includes(target)) return;
  const allowed = targets.length > 12 ? `${targets.slice(0, 12).join(', ')}, …` : targets.join(', ');
  report(run, 'reference-target', stepInto(place, name), `may not point to ${target}: allowed is ${allowed}`);
}

function readLiteral(reference: string, scope: ResourceScope): Literal {
  if (reference.startsWith('#')) return readFragment(reference.slice(1), scope);
  if (absolute.test(reference)) return readAbsolute(reference);
  const [, type = '', id = '', version] = relative.exec(reference) ?? [];
  if (isResourceType(type) && isId(id) && (version === undefined || isId(version))) return { type };
  return conditional.test(reference) ? readConditional(reference, scope) : { problem: relativeProblem(reference) };
}

function readFragment(id: string, scope: ResourceScope): Literal {
  if (!useFragment(scope, id)) {
    if (id === '') return { problem: 'may be "#" only inside a contained resource (ref-1)' };
    return { problem: `${quoteText(`#${id}`)} must be the id of a contained resource (ref-1)` };
  }
  const type = scope.contained.get(id);
  return type === undefined || type === '' ? {} : { type };
}

function readAbsolute(reference: string): Literal {
  if (reference.startsWith('urn:uuid:') && !urnUuid.test(reference))
    return { problem: `${quoteText(reference)} is not a UUID after urn:uuid:` };
  if (reference.startsWith('urn:oid:') && !urnOid.test(reference))
    return { problem: `${quoteText(reference)} is not an OID after urn:oid:` };
  const type = /^https?:/i.test(reference) ? restfulEnd.exec(reference)?.[1] : undefined;
  return type !== undefined && isResourceType(type) ? { type } : {};
}

function readConditional(reference: string, scope: ResourceScope): Literal {
  const type = conditional.exec(reference)?.[1] ?? '';
  if (!scope.conditionalReferences)
    return { problem: `${quoteText(reference)} is a conditional reference: in a transaction only` };
  return isResourceType(type) ? { type } : { problem: explainUnknownType(type) };
}

function relativeProblem(reference: string): string {
  const [, type = '', id = '', version] = relative.exec(reference) ?? [];
  if (/^[A-Za-z]+$/.test(type) && !isResourceType(type)) return explainUnknownType(type);
  if (isResourceType(type) && !isId(id)) return `${quoteText(id)} is not an id: 1 to 64 of A-Z, a-z, 0-9, "-" and "."`;
  if (isResourceType(type) && version !== undefined) return `${quoteText(version)} is not an id of a version`;
  return `${quoteText(reference)} is not a reference: Type/id, Type/id/_history/version, #id or an absolute URL is expected`;
}

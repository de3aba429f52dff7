/**
 * Schemas that lead to themselves: an extension may hold any datatype, and each datatype extensions. Programs that follow
 * every reference do not end, or make each type out of all others. Here such references are cut.
 */
import type { OpenApiDocument } from '../document.ts';
import { listReferences } from './part.ts';

/** Where nearly all cycles of R4 pass through; cut first, so that everything else stays whole. */
const first = 'Extension';

type Schemas = Readonly<Record<string, unknown>>;

/**
 * Components whose schemas refer to no schema that leads back to them. What would do so is an object of which no more is
 * said; everything else stays as it is.
 */
export function cutCycles(components: OpenApiDocument['components']): OpenApiDocument['components'] {
  const schemas: Record<string, unknown> = { ...components['schemas'] };
  const targets = new Map(Object.entries(schemas).map(([name, schema]) => [name, listTargets(schema)]));
  const names = Object.keys(schemas).filter((name) => name !== first);
  for (const name of Object.hasOwn(schemas, first) ? [first, ...names] : names) {
    const closing = new Set([...(targets.get(name) ?? [])].filter((target) => leadsTo(targets, target, name)));
    if (closing.size === 0) continue;
    schemas[name] = withoutReferences(schemas[name], closing);
    targets.set(name, listTargets(schemas[name]));
  }
  return { ...components, schemas };
}

/** Names of the schemas that a schema refers to. */
function listTargets(schema: unknown): ReadonlySet<string> {
  return new Set(listReferences(schema).map((reference) => reference.slice('schemas/'.length)));
}

function leadsTo(targets: ReadonlyMap<string, ReadonlySet<string>>, from: string, goal: string): boolean {
  const seen = new Set([from]);
  for (const name of seen) {
    if (name === goal) return true;
    for (const next of targets.get(name) ?? []) seen.add(next); // a Set is walked on to what is added meanwhile
  }
  return false;
}

function withoutReferences(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutReferences(item, names));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as Schemas;
  const name = typeof $ref === 'string' ? $ref.slice('#/components/schemas/'.length) : '';
  if (names.has(name)) return { type: 'object', description: `${name}. Its members are not listed here.`, ...rest };
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutReferences(member, names)]));
}

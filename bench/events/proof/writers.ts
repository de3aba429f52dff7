/** Writers who change resources, and what they have written: version by version, as far as they were told. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../packages/server/src/synthetic/random.ts';
import { openRandom } from '../../../packages/server/src/synthetic/random.ts';
import type { Answer } from '../../siege/caller.ts';
import type { ProofClient } from './client.ts';
import { type ProofResource, type ProofType, panels, proofTypes } from './rights.ts';

/** Resources of each type. */
const poolSize = 150;
/** Of the writes: deletes, and Bundles of several changes in one transaction. */
const deleteShare = 0.12;
const bundleShare = 0.08;

/** Versions by `Type/id`; `null`: a deletion. A version that is missing was written without an answer. */
export type Written = Map<string, Map<number, ProofResource | null>>;

export interface Writers {
  /** Changes that were acknowledged. */
  count(): number;
  /** Requests that were not. */
  failures(): number;
  readonly written: Written;
  /** Resolves when as many changes were made as were wanted. */
  readonly done: Promise<void>;
}

export interface WriterOptions {
  readonly seed: string;
  readonly writers: number;
  readonly changes: number;
}

/** Starts all writers. */
export function startWriters(client: ProofClient, { seed, writers, changes }: WriterOptions): Writers {
  const written: Written = new Map();
  let count = 0;
  let failures = 0;
  const write = async (writer: number): Promise<void> => {
    const random = openRandom(seed, 'writer', writer);
    while (count < changes) {
      const made = await writeOnce(client, random, written, count);
      count += made;
      if (made > 0) continue;
      failures += 1;
      await delay(random.integer(20, 200));
    }
  };
  return {
    count: () => count,
    failures: () => failures,
    written,
    done: Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))).then(() => undefined),
  };
}

/** How many changes were acknowledged. */
async function writeOnce(client: ProofClient, random: Random, written: Written, number: number): Promise<number> {
  if (random.chance(bundleShare)) return await writeBundle(client, random, written, number);
  const resource = makeResource(random, number);
  const name = `${resource.resourceType}/${resource.id}`;
  const isDelete = random.chance(deleteShare);
  const answer = isDelete ? await client.send('DELETE', name) : await client.send('PUT', name, resource);
  requireFit(answer);
  if (answer.status < 200 || answer.status >= 300) return 0;
  const version = readVersion(answer);
  // A delete of what is not there changes nothing.
  if (isDelete && version !== undefined) note(written, name, version, null);
  if (!isDelete && version !== undefined) note(written, name, version, resource);
  return 1;
}

async function writeBundle(client: ProofClient, random: Random, written: Written, number: number): Promise<number> {
  const made = Array.from({ length: random.integer(2, 5) }, (_, at) => makeResource(random, number + at));
  const resources = [...new Map(made.map((each) => [`${each.resourceType}/${each.id}`, each])).entries()];
  const entry = resources.map(([name, resource]) => ({ resource, request: { method: 'PUT', url: name } }));
  const answer = await client.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
  requireFit(answer);
  if (answer.status !== 200) return 0;
  const told: readonly { readonly response: { readonly etag?: string } }[] = JSON.parse(answer.body).entry;
  for (const [at, [name, resource]] of resources.entries()) {
    const version = Number((told[at]?.response.etag ?? '').replaceAll(/\D/g, ''));
    if (version > 0) note(written, name, version, resource);
  }
  return resources.length;
}

/** What is refused whoever asks again: an expired token, others who write and a busy service are none of it. */
const refusals: ReadonlySet<number> = new Set([400, 403, 404, 422]);

/** @throws Error where the bench writes what cannot be written */
function requireFit({ status, body }: Answer): void {
  if (refusals.has(status)) throw new Error(`a write was refused: ${status} ${body}`);
}

function note(written: Written, name: string, version: number, resource: ProofResource | null): void {
  const versions = written.get(name) ?? new Map<number, ProofResource | null>();
  versions.set(version, resource);
  written.set(name, versions);
}

function readVersion({ headers }: Answer): number | undefined {
  const version = Number(String(headers['etag'] ?? '').replaceAll(/\D/g, ''));
  return version > 0 ? version : undefined;
}

function makeResource(random: Random, number: number): ProofResource {
  const type = random.pick(proofTypes);
  return buildResource(type, `r${random.integer(1, poolSize)}`, random.pick(panels), number, random.chance(0.7));
}

/** A resource with a panel; everything else in it follows from the number. */
export function buildResource(
  resourceType: ProofType,
  id: string,
  panel: string,
  number: number,
  isFirst: boolean,
): ProofResource {
  const shared = { resourceType, id, identifier: [{ value: panel }] };
  const text = `change ${number}`;
  if (resourceType === 'Patient')
    return {
      ...shared,
      active: isFirst,
      name: [{ family: text }],
      gender: number % 2 === 0 ? 'female' : 'male',
      birthDate: `19${10 + (number % 90)}-01-01`,
      telecom: [{ system: 'phone', value: `+1 ${number}` }],
    };
  if (resourceType === 'ChargeItem')
    return {
      ...shared,
      status: 'billable',
      code: { coding: [{ code: isFirst ? 'first' : 'second' }], text },
      subject: { display: text },
    };
  return {
    ...shared,
    status: isFirst ? 'current' : 'superseded',
    description: text,
    content: [{ attachment: { title: text } }],
  };
}

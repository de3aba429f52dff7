/** A follower of the practice's feed of changes, who goes on from its last place after whatever happens. */
import { setTimeout as delay } from 'node:timers/promises';
import { buildGetRequest } from '../../packages/server/src/base/worst-case.ts';
import type { Caller } from './caller.ts';

export interface Follower {
  /** `Type/id/version` → how often it was told. */
  readonly told: ReadonlyMap<string, number>;
  /** Follows until nothing new is told. */
  stop(): Promise<void>;
}

interface Page {
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly { readonly fullUrl: string; readonly response: { readonly etag: string } }[];
}

const first = '$changes?_type=Patient,Appointment&_count=100';
const pauseMs = 200;
/** Empty pages after which nothing is on its way any more: an open transaction holds the feed back. */
const emptyMax = 25;

/** Begins with what there is; resolves when it has all of that. */
export async function openFollower(caller: Caller): Promise<Follower> {
  const told = new Map<string, number>();
  let place = first;
  let isOpen = true;
  /** How many are told on the next page; undefined: no answer. */
  const step = async (): Promise<number | undefined> => {
    const { status, body } = await caller.send(buildGetRequest(place));
    if (status !== 200) return undefined;
    const page: Page = JSON.parse(body);
    const next = page.link.find(({ relation }) => relation === 'next')?.url;
    if (next === undefined) throw new Error(`a page of changes without a link to the next one: ${body.slice(0, 300)}`);
    for (const { fullUrl, response } of page.entry ?? []) {
      const name = `${fullUrl.split('/fhir/v2/')[1]}/${response.etag.replaceAll(/\D/g, '')}`;
      told.set(name, (told.get(name) ?? 0) + 1);
    }
    place = next.split('/fhir/v2/')[1] ?? next;
    return page.entry?.length ?? 0;
  };
  while ((await step()) !== 0);
  const following = (async () => {
    for (let empty = 0; isOpen || empty < emptyMax; ) {
      const count = await step();
      if (count !== undefined) empty = count === 0 ? empty + 1 : 0;
      if (count === undefined || count === 0) await delay(pauseMs);
    }
  })();
  return {
    told,
    async stop() {
      isOpen = false;
      await following;
    },
  };
}

/**
 * What requests name that each world has made for itself (ids of slots and holds, URLs of files): in a request it stands as
 * `{name}`, and each world gets its own.
 */

/** By name, what one world has. */
export type Names = ReadonlyMap<string, string>;

/** Wide enough for every name here, and too narrow for JSON. */
const place = /\{([a-z]+(?:-[a-z0-9]+)*)\}/g;

/** The text with what the names stand for; `none` for what there is not (yet). */
export function withNames(text: string, names: Names): string {
  return text.replace(place, (_place, name: string) => names.get(name) ?? 'none');
}

/** The JSON value with what the names in its strings stand for. */
export function bodyWithNames(body: unknown, names: Names): unknown {
  if (typeof body === 'string') return withNames(body, names);
  return body === undefined ? undefined : JSON.parse(withNames(JSON.stringify(body), names));
}

/** What an answer has given its caller to name in later requests. */
export function namesIn(location: string | null, text: string): readonly (readonly [name: string, value: string])[] {
  const found: (readonly [string, string | undefined])[] = [
    ['made', /\/([A-Za-z0-9.-]+)\/_history\//.exec(location ?? '')?.[1]],
    ['proposed', /\/Task\/([A-Za-z0-9.-]+)$/.exec(location ?? '')?.[1]],
    ['held', /"name":"hold","valueId":"([^"]+)"/.exec(text)?.[1]],
    ['upload', /"name":"url","valueUrl":"([^"]+)"/.exec(text)?.[1]],
    ['content', /"name":"attachment","valueUrl":"([^"]+)"/.exec(text)?.[1]],
    ['seal', /\/content\/[0-9a-f-]+\?link=([\w-]+)/.exec(text)?.[1]],
    ['link', /"url":"([^"]+\/content\/[0-9a-f-]+\?link=[\w-]+)"/.exec(text)?.[1]],
  ];
  return found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

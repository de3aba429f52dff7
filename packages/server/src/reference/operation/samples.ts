/**
 * A request as code: curl, TypeScript with fetch, Python with httpx. The page's script runs the same functions while values
 * are filled in: it gets them as their text, so they use nothing but each other and the language (docs/decisions/0337).
 */

export interface SampleRequest {
  readonly method: string;
  readonly url: string;
  /** Headers by name, but for the credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly needsToken: boolean;
  readonly needsApiKey: boolean;
  readonly body?: string | undefined;
}

export interface Samples {
  readonly curl: string;
  readonly typescript: string;
  readonly python: string;
}

/** The request in each language. Credentials are variables: no sample holds one. */
export function buildSamples(request: SampleRequest): Samples {
  return { curl: buildCurl(request), typescript: buildTypeScript(request), python: buildPython(request) };
}

function buildCurl({ method, url, headers, needsToken, needsApiKey, body }: SampleRequest): string {
  const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const isPlain = method === 'GET' || (method === 'POST' && body !== undefined);
  const lines = [
    `curl ${isPlain ? '' : `-X ${method} `}${quote(url)}`,
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(needsApiKey ? ['-H "x-api-key: $API_KEY"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-binary ${quote(body)}`]),
  ];
  return lines.join(' \\\n  ');
}

function buildTypeScript({ method, url, headers, needsToken, needsApiKey, body }: SampleRequest): string {
  const sent = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the sample that has a template.
    ...(needsToken ? ['Authorization: `Bearer ${process.env.TOKEN}`'] : []),
    ...(needsApiKey ? ["'x-api-key': process.env.API_KEY!"] : []),
    ...Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  ];
  const value = parseBody(body);
  const written =
    value === undefined
      ? JSON.stringify(body)
      : `JSON.stringify(${layOutValue(value, ['null', 'true', 'false'], '  ', '  ')})`;
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(sent.length === 0 ? [] : ['  headers: {', ...sent.map((line) => `    ${line},`), '  },']),
    ...(body === undefined ? [] : [`  body: ${written},`]),
  ];
  const call = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return [
    `const response = await fetch(${JSON.stringify(url)}${call});`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
    'if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);',
    'console.log(await response.text());',
  ].join('\n');
}

function buildPython({ method, url, headers, needsToken, needsApiKey, body }: SampleRequest): string {
  const sent = [
    ...(needsToken ? [`"Authorization": f"Bearer {os.environ['TOKEN']}"`] : []),
    ...(needsApiKey ? [`"x-api-key": os.environ["API_KEY"]`] : []),
    ...Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  ];
  const value = parseBody(body);
  const content =
    value === undefined
      ? `content=${JSON.stringify(body)}`
      : `json=${layOutValue(value, ['None', 'True', 'False'], '    ', '    ')}`;
  const options = [
    ...(sent.length === 0 ? [] : ['    headers={', ...sent.map((line) => `        ${line},`), '    },']),
    ...(body === undefined ? [] : [`    ${content},`]),
  ];
  return [
    ...(needsToken || needsApiKey ? ['import os', ''] : []),
    'import httpx',
    '',
    'response = httpx.request(',
    `    "${method}",`,
    `    ${JSON.stringify(url)},`,
    ...options,
    ')',
    'response.raise_for_status()',
    'print(response.text)',
  ].join('\n');
}

/** The body as a value, where it is an object or a list of JSON. */
function parseBody(body: string | undefined): unknown {
  if (body === undefined || !/^\s*[[{]/.test(body)) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/**
 * A value of JSON as a language writes it: what is short on one line, all else over several.
 * @param words for null, true and false
 * @param unit of indentation
 */
export function layOutValue(value: unknown, words: readonly string[], unit: string, margin = ''): string {
  const widthMax = 76;
  const writeShort = (part: unknown): string => {
    if (part === null || typeof part === 'boolean') return words[[null, true, false].indexOf(part)] ?? '';
    if (typeof part !== 'object') return JSON.stringify(part);
    if (Array.isArray(part)) return `[${part.map(writeShort).join(', ')}]`;
    const members = Object.entries(part).map(([name, member]) => `${JSON.stringify(name)}: ${writeShort(member)}`);
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
  };
  const line = writeShort(value);
  if (typeof value !== 'object' || value === null || margin.length + line.length <= widthMax) return line;
  const inner = margin + unit;
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => layOutValue(item, words, unit, inner))
    : Object.entries(value).map(
        ([name, member]) => `${JSON.stringify(name)}: ${layOutValue(member, words, unit, inner)}`,
      );
  const [open, close] = isList ? '[]' : '{}';
  return `${open}\n${items.map((item) => inner + item).join(',\n')}\n${margin}${close}`;
}

/** The functions as a script that defines them. */
export function writeSampleScript(): string {
  return [buildSamples, buildCurl, buildTypeScript, buildPython, parseBody, layOutValue].map(String).join('\n');
}

/** A service with documents: files, and the way from a file to a document that holds it. */
import { createHash } from 'node:crypto';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import type { Lifetime } from '../support/database.ts';
import {
  type Answer,
  answerOf,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';

export const pdf = Buffer.from(`%PDF-1.7\n${'a page of a report\n'.repeat(500)}%%EOF\n`);
export const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(3_000, 7)]);

export const uploadEntries = ['acl/bnry_c_url', 'acl/doc_ref_r', 'acl/doc_ref_s', 'acl/doc_ref_c', 'acl/doc_ref_u'];

export async function openWorld(t: Lifetime, settings: Readonly<Record<string, string>> = {}) {
  const files = openScratchDirectory(t);
  const service = await openTestService(t, { PRAXIS_DATA_DIR: files.path, ...settings });
  const maple = await makeFirm(service, 'maple');
  const cedar = await makeFirm(service, 'cedar');
  const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple, cedar]);
  const scanner = await makeApplication(service, 'Scanner', uploadEntries, [maple, cedar]);
  const full = await openCaller(service, operator, maple);
  const caller = await openCaller(service, scanner, maple);
  for (const id of ['stone', 'reed'])
    await full.send('PUT', `Patient/${id}`, { resourceType: 'Patient', id, name: [{ family: id }] });
  return { ...service, files, maple, cedar, operator, scanner, full, caller };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** The parameters of the answer to POST Binary, by name. */
export interface Offered {
  readonly url: string;
  /** The URL that resources name the content by. */
  readonly attachment: string;
  readonly id: string;
  /** When that ends, as an instant. */
  readonly expires: string;
}

export async function askForUrl(caller: Caller, contentType?: string): Promise<Offered> {
  const answer = await caller.send('POST', 'Binary', {
    resourceType: 'Binary',
    ...(contentType === undefined ? {} : { contentType }),
  });
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  const of = (wanted: string) => answer.json.parameter.find((each: { readonly name: string }) => each.name === wanted);
  const attachment: string = of('attachment').valueUrl;
  const { valueInstant: expires } = of('expires');
  return { url: of('url').valueUrl, attachment, id: attachment.split('/').at(-1) ?? '', expires };
}

/** PUT without any header of ours. */
export async function putFile(
  url: string,
  bytes: Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return await answerOf(await fetch(url, { method: 'PUT', headers, body: new Uint8Array(bytes) }));
}

/** Content that was uploaded. */
export async function uploaded(caller: Caller, bytes: Buffer, contentType = 'application/pdf'): Promise<Offered> {
  const offered = await askForUrl(caller, contentType);
  const answer = await putFile(offered.url, bytes, { 'content-type': contentType });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return offered;
}

export function documentOf(url: string, more: object = {}, attachment: object = {}): object {
  return {
    resourceType: 'DocumentReference',
    status: 'current',
    subject: { reference: 'Patient/stone' },
    content: [{ attachment: { contentType: 'application/pdf', url, ...attachment } }],
    ...more,
  };
}

/** A document that holds the file, as its id. */
export async function storedDocument(caller: Caller, bytes: Buffer, more: object = {}): Promise<string> {
  const { attachment } = await uploaded(caller, bytes);
  const answer = await caller.send('POST', 'DocumentReference', documentOf(attachment, more));
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  return answer.json.id;
}

/** The URL that the content of a document is downloaded from. */
export async function linkOf(caller: Caller, id: string): Promise<string> {
  return (await caller.get(`DocumentReference/${id}`)).json.content[0].attachment.url;
}

export function sha1(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('base64');
}

export function sha256(bytes: Buffer, encoding: 'base64' | 'base64url' = 'base64'): string {
  return createHash('sha256').update(bytes).digest(encoding);
}

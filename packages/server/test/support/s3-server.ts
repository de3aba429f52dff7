/**
 * A small server that speaks as much of S3 as the content store uses (https://docs.aws.amazon.com/AmazonS3/latest/API/):
 * objects of one bucket in memory, by path. It checks every signature by the published algorithm, and that the bytes of a PUT
 * have the hash that was signed.
 */
import { createHash, createHmac } from 'node:crypto';
import http from 'node:http';
import type { Lifetime } from './database.ts';

export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly objects: Map<string, Buffer>;
  /** Requests that were answered, as `PUT 200`. */
  readonly answered: string[];
  /** How many of the next requests are answered 503, body unread. */
  failing: number;
}

const bucket = 'documents';
const region = 'eu-central-1';
const accessKeyId = 'AKIDEXAMPLE';
const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';

export async function openS3Server(t: Lifetime): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const answered: string[] = [];
  const state = { bucket, region, accessKeyId, secretAccessKey, objects, answered, failing: 0, endpoint: '' };
  const server = http.createServer((request, response) => {
    void answer(state, request).then(({ status, body = Buffer.alloc(0), headers = {} }) => {
      answered.push(`${request.method} ${status}`);
      response.writeHead(status, { 'content-length': body.length, ...headers });
      response.end(request.method === 'HEAD' ? undefined : body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  state.endpoint = `http://127.0.0.1:${address.port}`;
  return state;
}

interface Reply {
  readonly status: number;
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

async function answer(server: S3Server, request: http.IncomingMessage): Promise<Reply> {
  if (server.failing > 0) {
    server.failing -= 1;
    request.resume();
    return problem(503, 'SlowDown');
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const wrong = signatureProblem(request, body);
  if (wrong !== undefined) return problem(403, wrong);
  const { pathname } = new URL(request.url ?? '', 'http://s3');
  if (!pathname.startsWith(`/${bucket}/`)) return problem(404, 'NoSuchBucket');
  return objectReply(server.objects, decodeURIComponent(pathname.slice(bucket.length + 2)), request, body);
}

function objectReply(
  objects: Map<string, Buffer>,
  key: string,
  { method, headers }: http.IncomingMessage,
  body: Buffer,
): Reply {
  const stored = objects.get(key);
  if (method === 'PUT') {
    objects.set(key, body);
    return { status: 200, headers: { etag: `"${createHash('md5').update(body).digest('hex')}"` } };
  }
  if (method === 'DELETE') {
    objects.delete(key);
    return { status: 204 };
  }
  if (method !== 'GET' && method !== 'HEAD') return problem(405, 'MethodNotAllowed');
  if (stored === undefined) return problem(404, 'NoSuchKey');
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
  if (start === undefined || end === undefined) return { status: 200, body: stored };
  const range = `bytes ${start}-${end}/${stored.length}`;
  return { status: 206, body: stored.subarray(Number(start), Number(end) + 1), headers: { 'content-range': range } };
}

function problem(status: number, code: string): Reply {
  return { status, body: Buffer.from(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`) };
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html; undefined: the signature is right. */
function signatureProblem({ method = '', url = '', headers }: http.IncomingMessage, body: Buffer): string | undefined {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const [, keyId, day = '', place = '', names = '', signature] = pattern.exec(headers.authorization ?? '') ?? [];
  if (keyId !== accessKeyId || place !== region) return 'InvalidAccessKeyId';
  const payload = String(headers['x-amz-content-sha256'] ?? '');
  const { pathname, searchParams } = new URL(url, 'http://s3');
  const query = [...searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .toSorted()
    .join('&');
  const signed = names.split(';');
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => signed.includes(name))) return 'AccessDenied';
  const canonicalHeaders = signed.map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`).join('');
  const canonical = [method, pathname, query, canonicalHeaders, names, payload].join('\n');
  const scope = `${day}/${place}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = [day, place, 's3', 'aws4_request'].reduce<Buffer | string>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${secretAccessKey}`,
  );
  if (createHmac('sha256', key).update(text).digest('hex') !== signature) return 'SignatureDoesNotMatch';
  return method !== 'PUT' || payload === sha256(body) ? undefined : 'XAmzContentSHA256Mismatch';
}

function sha256(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * The content store in a bucket of Amazon S3, or of what speaks its language
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html). The client library is loaded with the first object:
 * whoever keeps content in a directory does not wait for it.
 */
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { type ContentStore, requireName } from './content-store.ts';

export interface S3Options {
  readonly bucket: string;
  /** Origin of a service other than Amazon's; '': Amazon's. */
  readonly endpoint: string;
  readonly region: string;
  /** Empty: as the library finds credentials, in the environment or of the machine's role. */
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

type Library = typeof import('@aws-sdk/client-s3');

/** Attempts of one request, the first included. */
const attemptsMax = 3;
const connectionTimeoutMs = 5_000;
/** Longest silence of the other side. */
const silenceMs = 30_000;

export function openS3Store(options: S3Options): ContentStore {
  const { bucket: Bucket } = options;
  let loading: Promise<{ readonly library: Library; readonly client: S3Client }> | undefined;
  const load = (): NonNullable<typeof loading> => {
    loading ??= import('@aws-sdk/client-s3').then((library) => ({
      library,
      client: new library.S3Client(configOf(options)),
    }));
    return loading;
  };
  return {
    async put(name, { path, size, sha256 }) {
      const Key = requireName(name);
      const { library, client } = await load();
      // A stream cannot be sent twice, so that attempts are made here; the hash is signed, so that the other side checks it.
      await attempts(() => {
        const command = new library.PutObjectCommand({
          Bucket,
          Key,
          Body: createReadStream(path),
          ContentLength: size,
          ContentType: 'application/octet-stream',
        });
        command.middlewareStack.add(
          (next) => (args) => {
            const { request } = args;
            if (isHttpRequest(request)) request.headers['x-amz-content-sha256'] = sha256.toString('hex');
            return next(args);
          },
          { step: 'build', name: 'praxisSignedPayload' },
        );
        return client.send(command);
      });
      await rm(path, { force: true });
    },
    async open(name, range) {
      const Key = requireName(name);
      const { library, client } = await load();
      const Range = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` };
      const { Body } = await client.send(new library.GetObjectCommand({ Bucket, Key, ...Range }));
      if (!(Body instanceof Readable)) throw new TypeError('the answer of the content store has no body');
      return Body;
    },
    async remove(name) {
      const Key = requireName(name);
      const { library, client } = await load();
      await client.send(new library.DeleteObjectCommand({ Bucket, Key }));
    },
  };
}

function configOf({ endpoint, region, accessKeyId, secretAccessKey }: S3Options): S3ClientConfig {
  return {
    region,
    maxAttempts: attemptsMax,
    // Checksums of S3 alone, which others that speak its language do not know; the SHA-256 of the signature says more.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    logger: silent, // errors reach the log of the service by being thrown
    requestHandler: { connectionTimeout: connectionTimeoutMs, socketTimeout: silenceMs },
    ...(endpoint === '' ? {} : { endpoint, forcePathStyle: true }),
    ...(accessKeyId === '' ? {} : { credentials: { accessKeyId, secretAccessKey } }),
  };
}

const nothing = (): void => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

async function attempts<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === attemptsMax || isRefusal(error)) throw error;
    }
  }
}

/** Whether the other side has said no, which it would say again. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || !('$metadata' in error)) return false;
  const { $metadata: metadata } = error;
  const status =
    typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata ? metadata.httpStatusCode : 0;
  return typeof status === 'number' && status >= 400 && status < 500;
}

function isHttpRequest(request: unknown): request is { readonly headers: Record<string, string> } {
  return typeof request === 'object' && request !== null && 'headers' in request;
}

/**
 * The content store that the settings name, and the directory through which content comes in.
 */
import path from 'node:path';
import { type Config, ConfigError } from '../base/config.ts';
import type { ContentStore } from './content-store.ts';
import { openDirectoryStore } from './directory.ts';
import { openS3Store } from './s3.ts';

export interface Content {
  readonly store: ContentStore;
  /** Of files that are still coming in. */
  readonly incoming: string;
  /** Where the bytes lie, in words for operators. */
  readonly place: string;
}

type ContentSettings = Pick<
  Config,
  'dataDir' | 's3Bucket' | 's3Endpoint' | 's3Region' | 's3AccessKeyId' | 's3SecretAccessKey'
>;

/** @throws ConfigError when only one half of the credentials is set */
export function openContent(config: ContentSettings): Content {
  const root = path.join(path.resolve(config.dataDir), 'content');
  const incoming = path.join(root, 'incoming');
  if (config.s3Bucket === '') return { store: openDirectoryStore(root), incoming, place: `the directory ${root}` };
  if ((config.s3AccessKeyId === '') !== (config.s3SecretAccessKey === ''))
    throw new ConfigError('PRAXIS_S3_ACCESS_KEY_ID and PRAXIS_S3_SECRET_ACCESS_KEY are set together or not at all');
  const store = openS3Store({
    bucket: config.s3Bucket,
    endpoint: config.s3Endpoint,
    region: config.s3Region,
    accessKeyId: config.s3AccessKeyId,
    secretAccessKey: config.s3SecretAccessKey,
  });
  return { store, incoming, place: `the bucket ${config.s3Bucket}` };
}

/** Settings of what comes in and goes out: rows of the table in settings.ts. */
import type { SettingRow } from './setting-row.ts';

export const transferSettings = {
  transferSeconds: {
    env: 'PRAXIS_TRANSFER_SECONDS',
    kind: 'integer',
    default: '60',
    min: 1,
    max: 3600,
    description:
      'How long a request body may take to arrive and an answer to be read, beside the time for its bytes, in seconds; then the connection is closed.',
  },
  transferBytesPerSecond: {
    env: 'PRAXIS_TRANSFER_BYTES_PER_SECOND',
    kind: 'integer',
    default: '50000',
    min: 100,
    max: 1000000000,
    description: 'The least rate at which larger bodies arrive and larger answers are read, in bytes a second.',
  },
  connectionsPerAddress: {
    env: 'PRAXIS_CONNECTIONS_PER_ADDRESS',
    kind: 'integer',
    default: '1000',
    min: 0,
    max: 1000000,
    description:
      'Open connections of one address to one process, those of `PRAXIS_TRUSTED_PROXIES` not counted; 0 = any number.',
  },
  bodiesBytesMax: {
    env: 'PRAXIS_BODIES_BYTES_MAX',
    kind: 'integer',
    default: '134217728',
    min: 1024,
    max: 17179869184,
    description:
      'Bytes of all request bodies of the data API that one process has under way; one API key gets a quarter of it, at least `PRAXIS_BODY_BYTES_MAX`.',
  },
} as const satisfies Record<string, SettingRow>;

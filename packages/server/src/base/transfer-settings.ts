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
      'Time limit to send a request body and to read a response, in seconds, in addition to the time for its bytes. Beyond it the connection is closed.',
  },
  transferBytesPerSecond: {
    env: 'PRAXIS_TRANSFER_BYTES_PER_SECOND',
    kind: 'integer',
    default: '50000',
    min: 100,
    max: 1000000000,
    description: 'Lowest transfer rate of larger bodies and responses, in bytes per second.',
  },
  connectionsPerAddress: {
    env: 'PRAXIS_CONNECTIONS_PER_ADDRESS',
    kind: 'integer',
    default: '1000',
    min: 0,
    max: 1000000,
    description:
      'Open connections from one address to one worker. Connections from `PRAXIS_TRUSTED_PROXIES` do not count. 0 = no limit.',
  },
  bodiesBytesMax: {
    env: 'PRAXIS_BODIES_BYTES_MAX',
    kind: 'integer',
    default: '134217728',
    min: 1024,
    max: 17179869184,
    description:
      'Memory of one process for all request bodies of the data API in progress, in bytes. One API key gets a quarter, at least `PRAXIS_BODY_BYTES_MAX`.',
  },
} as const satisfies Record<string, SettingRow>;

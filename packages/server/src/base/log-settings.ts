/** Settings of logs; rows of settings.ts. */
import type { SettingRow } from './setting-row.ts';

export const logSettings = {
  logLevel: {
    env: 'PRAXIS_LOG_LEVEL',
    kind: 'logLevel',
    default: 'info',
    description: '`trace`, `debug`, `info`, `warn`, `error` or `silent`.',
  },
  accessLog: {
    env: 'PRAXIS_ACCESS_LOG',
    kind: 'boolean',
    default: 'false',
    description:
      'Log one line per request at the level `info`, without values: method, path template, status, error code, duration, request id and environment.',
  },
} as const satisfies Record<string, SettingRow>;

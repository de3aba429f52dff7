/** Settings of logs and traces; rows of settings.ts. */
import type { SettingRow } from './setting-row.ts';

export const logSettings = {
  logLevel: {
    env: 'PRAXIS_LOG_LEVEL',
    kind: 'choice',
    values: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    description: '`trace`, `debug`, `info`, `warn`, `error` or `silent`. `npm start` takes `warn`.',
  },
  accessLog: {
    env: 'PRAXIS_ACCESS_LOG',
    kind: 'boolean',
    default: 'false',
    description:
      'Log one line per request at the level `info`, without values: method, path template, status, error code, duration, request id and environment.',
  },
  tracesOrigin: {
    env: 'PRAXIS_TRACES_ORIGIN',
    kind: 'origin',
    default: '',
    description:
      'Origin of an OpenTelemetry collector that takes traces by OTLP over HTTP in JSON, for example `http://127.0.0.1:4318`. Empty: no traces.',
  },
  tracesPercent: {
    env: 'PRAXIS_TRACES_PERCENT',
    kind: 'integer',
    default: '10',
    min: 0,
    max: 100,
    description:
      'How many of a hundred requests are traced, and how many notifications. A request with `traceparent` is traced if that says so, up to 50 a second. 0: nothing is traced.',
  },
} as const satisfies Record<string, SettingRow>;

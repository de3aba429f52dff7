/** Requests for tokens, of both flows. */
import type { Caller } from '../caller.ts';
import type { Row } from './row.ts';

const bar = 0.8;

/** The rows of the token endpoints. */
export function listTokenRows({ issue, refresh }: Caller): readonly Row[] {
  return [
    {
      workload: { name: 'token issue', status: 200, call: () => issue },
      base: { kind: 'handler', status: 200, call: () => ({ ...issue, path: '/token' }) },
      bar,
    },
    {
      workload: { name: 'token refresh', status: 200, call: () => refresh },
      base: { kind: 'handler', status: 200, call: () => ({ ...refresh, path: '/refresh' }) },
      bar,
    },
  ];
}

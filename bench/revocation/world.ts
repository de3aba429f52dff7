/** What both parts of the bench of revocations work on, and what they find. */
import type { AdminCaller } from '../../packages/server/test/admin/world.ts';
import type { TestService } from '../../packages/server/test/support/service.ts';
import type { PacedAnswer } from './paced-load.ts';

export interface Nodes {
  /** The platform of the installation, with the origin of the first node. */
  readonly first: TestService;
  readonly origins: readonly [string, string];
  readonly operator: AdminCaller;
}

export interface LoadResult {
  readonly name: string;
  readonly answers: readonly PacedAnswer[];
  /** Requests that were answered as they must not be. */
  readonly wrong: readonly string[];
  readonly notes: readonly string[];
}

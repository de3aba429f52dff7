/** What the administration's own actions work with, beside what those of features do. */
import { type Action, type ActionContext, type ActionRow, defineAction, type NoFields } from '../actions/action.ts';
import type { Fields } from '../actions/schema.ts';
import type { Secrets } from '../base/secrets.ts';
import type { RemoteKeys } from '../oauth/client-auth/remote-keys.ts';
import type { Passwords } from './passwords.ts';
import type { SignedInCaller } from './sessions.ts';
import type { SignInContext } from './sign-in.ts';

/** `address`: of whom asks. */
export interface AdminContext extends ActionContext, Pick<SignInContext, 'guessLimit' | 'address'> {
  readonly secrets: Secrets;
  readonly passwords: Passwords;
  readonly remoteKeys: RemoteKeys;
  readonly jwksLoopback: boolean;
  /** Origin of a realm's token endpoint. */
  readonly originOfRealm: (realm: string) => string;
}

/** Of actions on what is the caller's own. */
export interface SessionContext extends AdminContext {
  readonly caller: SignedInCaller;
}

type Define<C> = <const P extends string, const F extends Fields = NoFields, R = unknown>(
  row: ActionRow<P, F, C, R>,
) => Action<string, Fields, C>;

/** An action that works with the secrets of the installation. */
export const defineAdminAction: Define<AdminContext> = defineAction;

/** An action of whoever is signed in on what is its own. */
export const defineSessionAction: Define<SessionContext> = defineAction;

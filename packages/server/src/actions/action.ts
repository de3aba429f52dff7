/**
 * What an action of administration is: a row that says everything about it once. Routes, checks of roles and input, the
 * OpenAPI document, the commands of `praxis` and their documents derive from the list in `admin/actions/list.ts`.
 */
import type { ServiceClock } from '../base/service-clock.ts';
import type { Database } from '../database/database.ts';
import type { OpenBudget } from '../limits/budgets.ts';
import type { ResourceStore } from '../storage/store.ts';
import type { CommandForm } from './command-form.ts';
import { type BodyOf, type Fields, nothing, type Output, type Role, type SegmentNames } from './schema.ts';

/**
 * An action as its row is written.
 * @typeParam C what the handler works with; `never` for who only reads the description
 * @typeParam R what the handler gives
 */
export interface ActionRow<P extends string, F extends Fields, C, R> {
  /** Unique; the words of the command of `praxis`. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below /admin/api; names in braces are segments, percent-encoded where they have to be. */
  readonly path: P;
  readonly summary: string;
  readonly description?: string;
  /** What only concerns the request by HTTP. */
  readonly requestNote?: string;
  /** Who may: a practice administrator only below its firm or /me, a vendor only below its application or /me. */
  readonly roles: readonly Role[];
  /** Only by a session, not by an API token. */
  readonly sessionOnly?: true;
  /** Members of the JSON body; an action without fields takes no body. */
  readonly fields?: F;
  /** Absent: it answers nothing. */
  readonly output?: Output;
  /** The answer is 201. */
  readonly creates?: true;
  readonly run: (context: C, input: ActionInput<P, F>) => Promise<R>;
  /** What the command line cannot derive; it stands behind `run`, whose result it prints. */
  readonly command?: CommandForm<P, NoInfer<F>, NoInfer<R>>;
}

export interface Action<P extends string = string, F extends Fields = Fields, C = never, R = unknown>
  extends ActionRow<P, F, C, R> {
  readonly fields: F;
  readonly output: Output;
}

/** Of an action that takes no body. */
export type NoFields = Record<never, never>;

/** What every handler works with. */
export interface ActionContext {
  readonly database: Database;
  readonly clock: ServiceClock;
  readonly store: ResourceStore;
  /** The FHIR base of a firm. */
  readonly baseUrlOf: (firm: { readonly environment: string; readonly prefix: string }) => string;
  readonly caller: Actor;
  readonly openBudget: OpenBudget;
  /** Rows of one answer; a further one says that there are more. */
  readonly rowsMax: number;
}

/** Who asks for an action. */
export interface Actor {
  readonly username: string;
  readonly role: Role;
  readonly kind: 'session' | 'token' | 'command';
}

export interface ActionInput<P extends string, F extends Fields> {
  readonly path: { readonly [N in SegmentNames<P>]: string };
  readonly body: BodyOf<F>;
}

/** An action whose handler's input is typed by its path and fields, as a row of the list of all. */
export function defineAction<const P extends string, const F extends Fields = NoFields, C = ActionContext, R = unknown>(
  row: ActionRow<P, F, C, R>,
): Action<string, Fields, C> {
  // The framework gives each handler what its own path and fields promise (admin/routes.ts, admin/input.ts).
  return { fields: {}, output: nothing, ...row } as unknown as Action<string, Fields, C>;
}

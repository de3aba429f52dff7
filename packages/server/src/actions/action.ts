/**
 * What an action of administration is: a row that says everything about it once. Routes, checks of roles and input,
 * the OpenAPI document and docs/operate/admin.md derive from the list in `admin/actions/list.ts`.
 */
import type { ServiceClock } from '../base/service-clock.ts';
import type { Database } from '../database/database.ts';
import type { OpenBudget } from '../limits/budgets.ts';
import type { ResourceStore } from '../storage/store.ts';

export const roles = ['operator', 'practice', 'vendor'] as const;
export type Role = (typeof roles)[number];

/** @typeParam C what the handler works with; `never` for who only reads the description */
export interface Action<P extends string = string, F extends Fields = Fields, C = never> {
  /** Unique; that of the command of `praxis` that does the same, where there is one. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below /admin/api; names in braces are segments, percent-encoded where they have to be. */
  readonly path: P;
  readonly summary: string;
  readonly description?: string;
  /** Who may: a practice administrator only below its firm or /me, a vendor only below its application or /me. */
  readonly roles: readonly Role[];
  /** Only by a session, not by an API token. */
  readonly sessionOnly?: true;
  /** Members of the JSON body; an action without fields takes no body. */
  readonly fields: F;
  readonly output: Output;
  /** The answer is 201. */
  readonly creates?: true;
  readonly run: (context: C, input: ActionInput<P, F>) => Promise<unknown>;
}

/** What every handler works with. */
export interface ActionContext {
  readonly database: Database;
  readonly clock: ServiceClock;
  readonly store: ResourceStore;
  /** The FHIR base of a firm. */
  readonly baseUrlOf: (firm: { readonly environment: string; readonly prefix: string }) => string;
  readonly caller: Actor;
  readonly openBudget: OpenBudget;
}

/** Who asks for an action. */
export interface Actor {
  readonly username: string;
  readonly role: Role;
  readonly kind: 'session' | 'token';
}

/** Rows of one answer. */
export const itemsMax = 10_000;

export interface ActionInput<P extends string, F extends Fields> {
  readonly path: { readonly [N in SegmentNames<P>]: string };
  readonly body: BodyOf<F>;
}

/** `/firms/{firm}` → `firm`. */
type SegmentNames<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | SegmentNames<Rest> : never;

type FieldKind =
  /** A string without control characters. */
  | { readonly kind: 'text'; readonly lengthMax: number }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** ISO 8601 with a zone, of a day that exists. */
  | { readonly kind: 'time' }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'flag' }
  | { readonly kind: 'texts'; readonly itemsMax: number; readonly lengthMax: number }
  /** An object whose members are true or false; the handler knows the names. */
  | { readonly kind: 'flags'; readonly names: readonly string[] }
  /** Any JSON object; the handler reads it. */
  | { readonly kind: 'object' };

export type Field = FieldKind & {
  readonly description: string;
  readonly required?: true;
  /** Who may give it, where not all may that may do the action. */
  readonly roles?: readonly Role[];
};
export type Fields = Readonly<Record<string, Field>>;

type ValueOf<F extends Field> = F extends { kind: 'choice'; values: readonly (infer V)[] }
  ? V
  : F extends { kind: 'text' }
    ? string
    : F extends { kind: 'time' | 'integer' }
      ? number
      : F extends { kind: 'flag' }
        ? boolean
        : F extends { kind: 'texts' }
          ? readonly string[]
          : F extends { kind: 'flags' }
            ? Readonly<Record<string, boolean>>
            : Readonly<Record<string, unknown>>;

type RequiredNames<F extends Fields> = { [N in keyof F]: F[N] extends { required: true } ? N : never }[keyof F];

/** The checked body: times as ms since 1970. */
export type BodyOf<F extends Fields> = { readonly [N in RequiredNames<F>]: ValueOf<F[N]> } & {
  readonly [N in Exclude<keyof F, RequiredNames<F>>]?: ValueOf<F[N]>;
};

type MemberKind =
  | { readonly kind: 'text' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** Written as an instant; the handler gives ms since 1970 under the name with `Ms` behind it. */
  | { readonly kind: 'time' }
  | { readonly kind: 'integer' }
  | { readonly kind: 'flag' }
  | { readonly kind: 'texts' }
  | { readonly kind: 'flags' }
  /** A JSON object as it was given by whoever wrote it. */
  | { readonly kind: 'document' }
  | { readonly kind: 'object'; readonly shape: Shape }
  | { readonly kind: 'list'; readonly shape: Shape };

/** Optional: absent where the handler gives nothing. Nullable: null where there is nothing. */
export type Member = MemberKind & {
  readonly description: string;
  readonly optional?: true;
  readonly nullable?: true;
};

/** What an answer may hold; what the handler gives beside it is not sent. */
export type Shape = Readonly<Record<string, Member>>;

/** `list`: `{"items": […], "more": false}`. */
export type Output =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'one'; readonly shape: Shape }
  | { readonly kind: 'list'; readonly shape: Shape };

export const nothing: Output = { kind: 'nothing' };

/** An action whose handler's input is typed by its path and fields, as a row of the list of all. */
export function defineAction<const P extends string, const F extends Fields, C = ActionContext>(
  action: Action<P, F, C>,
): Action<string, Fields, C> {
  // The framework gives each handler what its own path and fields promise (admin/routes.ts, admin/input.ts).
  return action as unknown as Action<string, Fields, C>;
}

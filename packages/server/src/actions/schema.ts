/** How input and output of an action are described, and the types of values that follow. */

export const roles = ['operator', 'practice', 'vendor'] as const;
export type Role = (typeof roles)[number];

/** `/firms/{firm}` → `firm`. */
export type SegmentNames<P extends string> = string extends P
  ? string
  : P extends `${string}{${infer N}}${infer Rest}`
    ? N | SegmentNames<Rest>
    : never;

type FieldKind =
  /** A string without control characters. */
  /** `secret`: the command line reads it from a file. */
  | { readonly kind: 'text'; readonly lengthMax: number; readonly secret?: true }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** ISO 8601 with a zone, of a day that exists. */
  | { readonly kind: 'time' }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  /** `words`: for true and false, where the command line takes a word. */
  | { readonly kind: 'flag'; readonly words?: readonly [yes: string, no: string] }
  /** `split`: the command line takes lists of entries, too. */
  | { readonly kind: 'texts'; readonly itemsMax: number; readonly lengthMax: number; readonly split?: true }
  /** An object whose members are true or false; the handler knows the names. */
  | { readonly kind: 'flags'; readonly names: readonly string[] }
  /** Any JSON object; the handler reads it. The command line takes a file, or its members one by one. */
  | { readonly kind: 'object'; readonly byMember?: true };

export type Field = FieldKind & {
  readonly description: string;
  readonly required?: true;
  /** Who may give it, where not all may that may do the action. */
  readonly roles?: readonly Role[];
  /** Name of its option, where the command line has another one. */
  readonly option?: string;
  /** What the command line gives when it is not told. */
  readonly standard?: string;
  /** It says what a command is about, so the audit ledger holds it. */
  readonly noted?: true;
  /** It names the firm, or its environment, whose ledger holds the change, too. */
  readonly place?: 'firm' | 'environment';
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
  /** `secret`: it cannot be shown again. */
  | { readonly kind: 'text'; readonly secret?: true }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** Written as an instant; the handler gives ms since 1970 under the name with `Ms` behind it. */
  | { readonly kind: 'time'; readonly precision?: TimePrecision }
  | { readonly kind: 'integer' }
  | { readonly kind: 'flag'; readonly words?: readonly [yes: string, no: string] }
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
  /** What the command line calls it. */
  readonly label?: string;
  /** What a table shows in place of null. */
  readonly none?: string;
};

/** How exactly tables show a time. */
export type TimePrecision = 'minute' | 'second' | 'instant';

/** What an answer may hold; what the handler gives beside it is not sent. */
export type Shape = Readonly<Record<string, Member>>;

/** `list`: `{"items": […], "more": false}`. */
export type Output =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'one'; readonly shape: Shape }
  | { readonly kind: 'list'; readonly shape: Shape };

export const nothing: Output = { kind: 'nothing' };

export const one = (shape: Shape): Output => ({ kind: 'one', shape });

export const list = (shape: Shape): Output => ({ kind: 'list', shape });

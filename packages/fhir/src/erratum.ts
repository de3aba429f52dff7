// What a correction of the published R4 definitions is (errata.ts).

interface SearchComponent {
  readonly definition: string;
  readonly expression: string;
}

/** A part, found once, of a search parameter's expression; `from` is absent when R4 publishes no expression. */
export interface ExpressionChange {
  readonly parameter: string;
  readonly from?: string;
  readonly to: string;
}

/** The expression of an invariant where it is declared. */
export interface InvariantChange {
  readonly path: string;
  readonly key: string;
  readonly from: string;
  readonly to: string;
}

export type ErratumChange =
  /** The type of an element, also where other types inherit it. */
  | { readonly kind: 'element-type'; readonly path: string; readonly from: string; readonly to: string }
  /** The components of a composite search parameter. */
  | {
      readonly kind: 'components';
      readonly parameter: string;
      readonly from: readonly SearchComponent[];
      readonly to: readonly SearchComponent[];
    }
  | ({ readonly kind: 'expression' } & ExpressionChange)
  | ({ readonly kind: 'invariant' } & InvariantChange);

export interface Erratum {
  /** Unique, in kebab-case. */
  readonly name: string;
  readonly change: ErratumChange;
  /** What is wrong with the published text, in one or two sentences. */
  readonly reason: string;
  /** The page and section that shows it. */
  readonly source: string;
}

/** Errata of one kind by their names. */
export type Corrections<Change> = Readonly<Record<string, Change & Pick<Erratum, 'reason' | 'source'>>>;

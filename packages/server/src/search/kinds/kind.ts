/**
 * What a kind of search parameter (string, token, date, …) has to say: how its values are read, indexed and matched.
 * Each kind is one file; `kinds.ts` lists them. https://hl7.org/fhir/R4/search.html#ptypes
 */
import type { BudgetedWork, SearchParameter, StepBudget, TypedValue } from '@praxis/fhir';
import type { WorstCase } from '../../base/worst-case.ts';
import type { Sql } from '../../database/sql.ts';
import type { IndexRowBuilder } from '../index/index-row-builder.ts';
import type { DerivedSpace } from '../numbers.ts';
import type { ResolvedCodes } from '../query/codes.ts';
import type { Microseconds } from './date-range.ts';

/** The tables a search reads: the five index tables, and `resource` itself for `_id` and `_lastUpdated`. */
export type SearchTable = 'token' | 'reference' | 'date' | 'string' | 'number' | 'resource';

/** What R4's definitions tell about the values that a parameter can select. */
export interface ParameterFacts {
  /** Names of the datatypes; `'*'` among them when they cannot be told. */
  readonly dataTypes: ReadonlySet<string>;
  /** Whether one resource can have several rows for the parameter. */
  readonly repeats: boolean;
  /** For elements of type `code` with a closed value set: code → number of its system. Empty when one is open. */
  readonly codeSystems: ReadonlyMap<string, string>;
}

/** A search parameter of one resource type, ready for indexing and searching. */
export interface Parameter {
  readonly type: string;
  readonly code: string;
  /** Number under which its rows lie in the index tables: `numberIn()`. */
  readonly number: number;
  /** Number of a space of values beside its own. */
  readonly numberIn: (space?: DerivedSpace) => number;
  readonly definition: SearchParameter;
  readonly kind: SearchKind;
  readonly facts: ParameterFacts;
  /** Of a composite the parameters that it is made of; else none. */
  readonly parts: readonly Parameter[];
}

/** Where the values of a resource or of a query come from. */
export interface IndexContext {
  /** IANA time zone of the firm. */
  readonly timeZone: string;
  /** FHIR base URL of the firm on this server, without a slash at the end; absolute references below it are local. */
  readonly baseUrl?: string;
}

/** What indexing a resource goes by. */
export interface IndexingContext extends IndexContext {
  /** Spent by a step for each element that is looked at. */
  readonly budget: StepBudget;
  /** What is being done, for who pays for it. */
  readonly work: BudgetedWork;
  /** For a tuple of a composite: rows under other numbers than the parameter's own are not kept, and need not be made. */
  readonly isPart?: true;
}

/** Rows that are made while it is walked. */
export type RowParts = Generator<number, void>;

/** Makes all rows at once. */
export function makeAll(parts: RowParts): void {
  while (parts.next().done !== true);
}

export interface ValueContext extends IndexContext {
  readonly parameter: Parameter;
  /** Name as the caller wrote it, with modifier: `birthdate`, `name:exact`. For messages. */
  readonly name: string;
  /** Milliseconds since 1970; `ap` widens a date by its distance from now. */
  readonly nowMs: number;
  /** What value sets and hierarchies that the query names stand for. */
  readonly codes?: ResolvedCodes | undefined;
}

/**
 * How many of a type's rows a test lets through, roughly; the smallest drives the search. `one`: identifiers;
 * `few`: one patient, one day; `some`: one month; `part`: one practitioner; `many`: one code; `most`: a status.
 */
export const selectivities = { one: 1, few: 2, some: 3, part: 4, many: 5, most: 6 } as const;
export type Selectivity = (typeof selectivities)[keyof typeof selectivities];

/**
 * The order in which the table's primary key yields the rows that pass: `rid` (the key is fixed but for the resource),
 * `value` (the key's value columns, then the resource), `gathered` (neither: few rows that have to be sorted).
 */
export type RowOrder = 'rid' | 'value' | 'gathered';

/** One of the comma-separated values of a criterion, as a condition on one row of the kind's table. */
export interface Test {
  /** Complete condition; names columns of the table without a qualifier. */
  readonly where: Sql;
  /**
   * The same condition as alternatives that each bound the primary key; absent: `where` does. Alternatives share no row.
   */
  readonly branches?: readonly Sql[];
  readonly order: RowOrder;
  readonly selectivity: Selectivity;
  /** Where the condition is that the column `value` equals this: many such tests are one comparison with a list. */
  readonly value?: string;
  /** Where the condition is that this resource is the target: the number of its type, and its id. */
  readonly target?: { readonly type: number; readonly id: string };
  /** No index leads to the rows that pass: each row of a resource is looked at. */
  readonly scans?: true;
  /** For ranges of time: bounds between which `lo` lies, to judge how much two tests let through together. */
  readonly span?: { readonly from?: Microseconds; readonly to?: Microseconds };
}

/** How the values after a name with a given modifier (or none) are understood. */
export interface Reading {
  readonly table: SearchTable;
  /** Number under which the rows lie: the parameter's, or that of a derived space. */
  readonly number: number;
  /** `:not`: resources of which no row passes. */
  readonly negated?: true;
  /**
   * One of the comma-separated values; escapes are still in it.
   * @throws PraxisError `search-invalid`, naming the parameter and what would be right
   */
  parse(text: string, context: ValueContext): Test;
}

/** What a kind says of how its values are read: by a parser for each modifier, `''` for none. */
export function readBy(
  table: SearchTable,
  parsers: Readonly<Record<string, Reading['parse']>>,
): Pick<SearchKind, 'table' | 'modifiers' | 'reading'> {
  const modifiers = Object.keys(parsers).filter((modifier) => modifier !== '');
  return {
    table,
    modifiers: () => modifiers,
    reading({ number }, modifier) {
      const parse = Object.hasOwn(parsers, modifier) ? parsers[modifier] : undefined;
      return parse && { table, number, parse };
    },
  };
}

export interface SearchKind {
  readonly worstCase: WorstCase;
  readonly table: SearchTable;
  /**
   * Its parameters ask about the resource itself and have no expression. `:missing` and `_sort` have no meaning for them,
   * and only those may use them who read every element.
   */
  readonly whole?: true;
  /** Its conditions look at further rows of the resource than the one that they are asked of. */
  readonly looksFurther?: true;
  /** False: its rows are in no order that would mean something to a person. */
  readonly sortable?: false;
  /** Modifiers that the parameter takes beside `:missing`, for messages. */
  modifiers(parameter: Parameter): readonly string[];
  /** The reading for a modifier, `''` for none; undefined when the kind does not know it. */
  reading(parameter: Parameter, modifier: string): Reading | undefined;
  /** Adds the rows of one selected value. Values that cannot be searched leave a row of presence, or none. */
  index(value: TypedValue, parameter: Parameter, context: IndexingContext, rows: IndexRowBuilder): void;
  /**
   * The same in parts, so that others can go on in between; absent: the rows of one value are soon made. Yields how many
   * characters of text a part has read.
   */
  indexInParts?(value: TypedValue, parameter: Parameter, context: IndexingContext, rows: IndexRowBuilder): RowParts;
}

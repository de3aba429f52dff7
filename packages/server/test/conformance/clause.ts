/**
 * Clauses of R4's pages, one row each: what the page demands, in our own words, and the case that shows it or the reason
 * why it does not apply. docs/integrate/conformance.md is printed from these rows; the tests run the cases of the same rows.
 */
import type { World } from './world.ts';

/** Fails where the service does not do what the clause says. */
export type Case = (world: World) => Promise<void>;

export type Level = 'SHALL' | 'SHALL NOT' | 'SHOULD' | 'SHOULD NOT';

/** Why nothing of this service can follow or break the clause. */
export interface NotApplicable {
  readonly notApplicable: string;
}

/** A SHOULD that is not followed on purpose, and a case of what is done instead. */
export interface Departure {
  readonly departs: string;
  readonly case: Case;
}

export interface Clause {
  /** Page, section, number; never used again for another clause. */
  readonly id: string;
  /** Anchor on the page; of a guide, with the page: `channels.html#rest-hook`. */
  readonly section: string;
  readonly level: Level;
  /** What is demanded, in our own words. */
  readonly rule: string;
  readonly check: Case | NotApplicable | Departure;
}

export interface Page {
  /** Name of the page, which is that of its test file, too. */
  readonly name: string;
  /** What the page is about. */
  readonly title: string;
  /** https://hl7.org/fhir/R4/NAME */
  readonly url: string;
  readonly clauses: readonly Clause[];
}

type Check = Case | NotApplicable;

export function shall(id: string, section: string, rule: string, check: Check): Clause {
  return { id, section, level: 'SHALL', rule, check };
}

export function shallNot(id: string, section: string, rule: string, check: Check): Clause {
  return { id, section, level: 'SHALL NOT', rule, check };
}

export function should(id: string, section: string, rule: string, check: Check | Departure): Clause {
  return { id, section, level: 'SHOULD', rule, check };
}

export function shouldNot(id: string, section: string, rule: string, check: Check | Departure): Clause {
  return { id, section, level: 'SHOULD NOT', rule, check };
}

export const forClients: NotApplicable = { notApplicable: 'binds clients' };

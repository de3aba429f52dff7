/**
 * The rights of the applications of the proof, of three kinds, each wide or narrow, and what they were at which moment.
 */
export type ProofType = 'Patient' | 'ChargeItem' | 'DocumentReference';

export const proofTypes: readonly ProofType[] = ['Patient', 'ChargeItem', 'DocumentReference'];

/** A resource as a writer sends it. */
export interface ProofResource {
  readonly resourceType: ProofType;
  readonly id: string;
  /** One, whose value is the panel that the resource belongs to, as the patients of a practitioner do. */
  readonly identifier: readonly { readonly value: string }[];
  readonly [element: string]: unknown;
}

export const panels: readonly string[] = ['p0', 'p1', 'p2', 'p3'];

/** What an application may see at a practice; the practice has authorised these entries. */
export interface Rights {
  readonly name: string;
  readonly acl: readonly string[];
  readonly operatorRows: Readonly<Record<string, object>>;
  /** Panels whose resources it sees. */
  readonly panels: ReadonlySet<string>;
  /** By type: elements beside type, id and meta; absent: all. */
  readonly elements?: Readonly<Record<ProofType, ReadonlySet<string>>>;
}

const own = 'system/Subscription.cru';
const everything: ReadonlySet<string> = new Set(panels);

function limitToPanels(some: readonly string[]): readonly string[] {
  return [own, ...proofTypes.map((type) => `system/${type}.rs?identifier=${some.join(',')}`)];
}

function limitToElements(name: string, isWide: boolean): Rights {
  const charge = isWide ? ['identifier', 'status', 'code'] : ['identifier', 'status'];
  const document = isWide ? ['identifier', 'status', 'description'] : ['identifier', 'description'];
  return {
    name,
    acl: [own, isWide ? 'acl/pat_s_id_name_dob_gen' : 'acl/pat_s_id_name', 'acl/chrg_item_s', 'acl/doc_ref_s'],
    operatorRows: { chrg_item: { elements: charge }, doc_ref: { elements: document } },
    panels: everything,
    elements: {
      Patient: new Set(isWide ? ['identifier', 'name', 'birthDate', 'gender'] : ['identifier', 'name']),
      ChargeItem: new Set(charge),
      DocumentReference: new Set(document),
    },
  };
}

export interface RightsKind {
  readonly name: string;
  /** Entries of the application. */
  readonly acl: readonly string[];
  readonly wide: Rights;
  readonly narrow: Rights;
}

export const rightsKinds: readonly RightsKind[] = [
  {
    name: 'all',
    acl: ['acl/*'],
    wide: { name: 'everything', acl: ['acl/*'], operatorRows: {}, panels: everything },
    narrow: {
      name: 'three panels',
      acl: limitToPanels(['p0', 'p1', 'p2']),
      operatorRows: {},
      panels: new Set(['p0', 'p1', 'p2']),
    },
  },
  {
    name: 'elements',
    acl: [own, 'acl/pat_s_id_name_dob_gen', 'acl/chrg_item_s', 'acl/doc_ref_s'],
    wide: limitToElements('some elements', true),
    narrow: limitToElements('few elements', false),
  },
  {
    name: 'rows',
    acl: [own, ...proofTypes.map((type) => `system/${type}.rs`)],
    wide: { name: 'two panels', acl: limitToPanels(['p1', 'p2']), operatorRows: {}, panels: new Set(['p1', 'p2']) },
    narrow: { name: 'one panel', acl: limitToPanels(['p1']), operatorRows: {}, panels: new Set(['p1']) },
  },
];

/** Whether the resource is among the rows. */
export function seesRow({ panels: seen }: Rights, resource: ProofResource): boolean {
  return resource.identifier.some(({ value }) => seen.has(value));
}

const always: ReadonlySet<string> = new Set(['resourceType', 'id', 'meta']);

/** Elements of what was told that these rights do not show. */
export function listHiddenElements({ elements }: Rights, told: { readonly resourceType: string }): readonly string[] {
  if (elements === undefined) return [];
  const shown = elements[told.resourceType as ProofType];
  return Object.keys(told).filter((name) => !always.has(name) && !shown.has(name));
}

/** A change of the rights of an application: between the two moments either may be in force. */
interface Change {
  /** Undefined: none at all. */
  readonly rights: Rights | undefined;
  readonly askedMs: number;
  doneMs: number;
}

/** The rights of one application, change by change. */
export class RightsJournal {
  readonly #changes: Change[];

  constructor(first: Rights, nowMs: number) {
    this.#changes = [{ rights: first, askedMs: nowMs, doneMs: nowMs }];
  }

  /** The last ones that were asked for. */
  get current(): Rights | undefined {
    return this.#changes.at(-1)?.rights;
  }

  get count(): number {
    return this.#changes.length - 1;
  }

  /** Notes a change that is made by `make`, which resolves when it is committed. */
  async change(rights: Rights | undefined, make: () => Promise<void>): Promise<void> {
    const change = { rights, askedMs: Date.now(), doneMs: Number.POSITIVE_INFINITY };
    this.#changes.push(change);
    await make();
    change.doneMs = Date.now();
  }

  /** The rights that may have been in force at some moment from `fromMs` to `untilMs`. */
  listBetween(fromMs: number, untilMs: number): readonly (Rights | undefined)[] {
    return this.#changes
      .filter(
        ({ askedMs }, at) => askedMs <= untilMs && (this.#changes[at + 1]?.doneMs ?? Number.POSITIVE_INFINITY) > fromMs,
      )
      .map(({ rights }) => rights);
  }
}

/**
 * A profile: the snapshot of a StructureDefinition as a tree of elements with their slices.
 *
 * https://hl7.org/fhir/R4/profiling.html · https://hl7.org/fhir/R4/elementdefinition.html
 */
import type { Invariant } from '@praxis/fhir';
import { isPlainObject, listPlainObjects, listPlainTexts, type Plain, type PlainObject } from './element-node.ts';

export interface Profile {
  /** Canonical URL, without version. */
  readonly url: string;
  readonly version: string | undefined;
  /** The type that it constrains. */
  readonly type: string;
  readonly root: ProfileElement;
}

export interface ProfileElement {
  /** 'code'; 'value' for value[x]; 'valueQuantity' where the snapshot names the type. The type at the root. */
  readonly name: string;
  /** '' for an element that is no slice. */
  readonly sliceName: string;
  readonly min: number;
  /** Infinity for '*'. */
  readonly max: number;
  /** Absent: those of the base type. */
  readonly types: readonly ProfileType[] | undefined;
  readonly fixed: Plain | undefined;
  readonly pattern: Plain | undefined;
  readonly minValue: Plain | undefined;
  readonly maxValue: Plain | undefined;
  /** In characters. */
  readonly maxLength: number | undefined;
  readonly binding: ProfileBinding | undefined;
  readonly invariants: readonly Invariant[];
  readonly slicing: Slicing | undefined;
  readonly children: ReadonlyMap<string, ProfileElement>;
  readonly slices: readonly ProfileElement[];
}

export interface ProfileType {
  readonly code: string;
  /** Canonical URLs that the element itself has to conform to one of. */
  readonly profiles: readonly string[];
  /** Canonical URLs of what a Reference or canonical may lead to; empty: anything. */
  readonly targets: readonly string[];
}

export interface ProfileBinding {
  readonly strength: 'required' | 'extensible';
  /** Canonical URL, perhaps with a version. */
  readonly valueSet: string;
}

/** https://hl7.org/fhir/R4/profiling.html#slicing */
export interface Slicing {
  readonly discriminators: readonly { readonly type: string; readonly path: string }[];
  readonly rules: 'closed' | 'open' | 'openAtEnd';
  readonly ordered: boolean;
}

/** Elements of a snapshot, at most: R4's largest has 600. */
export const snapshotElementsMax = 10_000;

/** Asks nothing. */
export const blankElement: ProfileElement = {
  name: '',
  sliceName: '',
  min: 0,
  max: Number.POSITIVE_INFINITY,
  types: undefined,
  fixed: undefined,
  pattern: undefined,
  minValue: undefined,
  maxValue: undefined,
  maxLength: undefined,
  binding: undefined,
  invariants: [],
  slicing: undefined,
  children: new Map(),
  slices: [],
};

interface Builder extends ProfileElement {
  readonly children: Map<string, Builder>;
  readonly slices: Builder[];
}

/**
 * The profile that a StructureDefinition describes; a text that says why when it describes none.
 * The order of a snapshot is relied upon: an element follows what it stands in, a slice what it slices.
 */
export function parseProfile(definition: PlainObject): Profile | string {
  const { url, type, version } = definition;
  if (typeof url !== 'string' || typeof type !== 'string') return 'it has no url or type';
  const elements = isPlainObject(definition.snapshot) ? listPlainObjects(definition.snapshot.element) : [];
  if (elements.length === 0) return 'it has no snapshot';
  if (elements.length > snapshotElementsMax) return `its snapshot has more than ${snapshotElementsMax} elements`;
  const [first = {}, ...rest] = elements;
  const root = newElement(first, type);
  const open: Builder[] = [root];
  for (const element of rest) {
    const names = textOf(element.path).split('.').slice(1);
    const parent = open[names.length - 1];
    const name = names.at(-1)?.replace(/\[x\]$/, '');
    if (parent === undefined || name === undefined) return `its element ${textOf(element.path)} stands in none`;
    open.length = names.length;
    open[names.length] = place(parent, newElement(element, name));
  }
  return { url, version: typeof version === 'string' ? version : undefined, type, root };
}

function place(parent: Builder, element: Builder): Builder {
  const sliced = parent.children.get(element.name);
  if (element.sliceName === '' || sliced === undefined) parent.children.set(element.name, element);
  else {
    // A slice of a slice is named after it: 'a/b'.
    const outer = sliced.slices.find((slice) => element.sliceName.startsWith(`${slice.sliceName}/`));
    (outer ?? sliced).slices.push(element);
  }
  return element;
}

function newElement(element: PlainObject, name: string): Builder {
  return {
    name,
    sliceName: textOf(element.sliceName),
    min: typeof element.min === 'number' ? element.min : 0,
    max: element.max === undefined || element.max === '*' ? Number.POSITIVE_INFINITY : Number(element.max),
    types: element.type === undefined ? undefined : listPlainObjects(element.type).map(parseType),
    fixed: choiceOf(element, 'fixed'),
    pattern: choiceOf(element, 'pattern'),
    minValue: choiceOf(element, 'minValue'),
    maxValue: choiceOf(element, 'maxValue'),
    maxLength: typeof element.maxLength === 'number' ? element.maxLength : undefined,
    binding: parseBinding(element.binding),
    invariants: listPlainObjects(element.constraint).flatMap(parseInvariant),
    slicing: parseSlicing(element.slicing),
    children: new Map(),
    slices: [],
  };
}

function parseType(type: PlainObject): ProfileType {
  return {
    code: textOf(type.code),
    profiles: listPlainTexts(type.profile),
    targets: listPlainTexts(type.targetProfile),
  };
}

function parseBinding(binding: Plain | undefined): ProfileBinding | undefined {
  if (!isPlainObject(binding) || typeof binding.valueSet !== 'string') return undefined;
  const { strength, valueSet } = binding;
  return strength === 'required' || strength === 'extensible' ? { strength, valueSet } : undefined;
}

function parseInvariant({ key, severity, expression, human }: PlainObject): Invariant[] {
  if (typeof expression !== 'string' || expression === '') return [];
  const level = severity === 'warning' ? 'warning' : 'error';
  return [{ key: textOf(key), severity: level, expression, human: textOf(human) }];
}

function parseSlicing(slicing: Plain | undefined): Slicing | undefined {
  if (!isPlainObject(slicing)) return undefined;
  const { rules, ordered } = slicing;
  return {
    discriminators: listPlainObjects(slicing.discriminator).map(({ type, path }) => ({
      type: textOf(type),
      path: textOf(path),
    })),
    rules: rules === 'closed' || rules === 'openAtEnd' ? rules : 'open',
    ordered: ordered === true,
  };
}

/** The value of fixed[x] and the like. */
function choiceOf(element: PlainObject, name: string): Plain | undefined {
  const key = Object.keys(element).find((each) => each.startsWith(name) && /^[A-Z]/.test(each.slice(name.length)));
  return key === undefined ? undefined : element[key];
}

function textOf(value: Plain | undefined): string {
  return typeof value === 'string' ? value : '';
}

/**
 * Types as the XML format writes them: which members an element has, in which order, and which of them are attributes.
 * Compiled from the definitions on first use.
 *
 * https://hl7.org/fhir/R4/xml.html
 */
import {
  buildJsonName,
  type ElementDefinition,
  type ElementType,
  findTypeDefinition,
  isSubtypeOf,
  type TypeDefinition,
} from '../definitions.ts';
import { getOrMake } from '../memo.ts';
import type { ScalarKind } from './scalars.ts';

/** What stands under one name of a type. All have the same fields, so that reading them is fast. */
export interface Member {
  /** `resource` wraps a whole resource; `attribute` is an id or the url of an extension. */
  readonly kind: 'attribute' | 'scalar' | 'object' | 'resource' | 'xhtml';
  /** The name in JSON and XML: 'birthDate', 'valueQuantity'. */
  readonly name: string;
  /** Its sibling in JSON: '_birthDate'. */
  readonly siblingName: string;
  /** The name in a path: 'value' for value[x]. */
  readonly pathName: string;
  /** Position among the elements of the type; the names of one choice share it. */
  readonly order: number;
  readonly repeats: boolean;
  /** For scalars and attributes. */
  readonly scalar: ScalarKind;
  /** The name of the type, for messages: 'boolean', 'HumanName'. */
  readonly typeName: string;
  /** For objects. */
  readonly definition: TypeDefinition | undefined;
}

export interface Layout {
  readonly definition: TypeDefinition;
  readonly members: ReadonlyMap<string, Member>;
  readonly isResource: boolean;
}

const layouts = new WeakMap<TypeDefinition, Layout>();

/** The compiled form of a type, made once per definition. */
export function getLayout(definition: TypeDefinition): Layout {
  return getOrMake(layouts, definition, () => {
    return { definition, members: membersOf(definition), isResource: definition.kind === 'resource' };
  });
}

/** The layout of a resource type that can stand in a text; undefined for other names. */
export function findResourceLayout(name: string): Layout | undefined {
  const definition = findTypeDefinition(name);
  return definition?.kind === 'resource' ? getLayout(definition) : undefined;
}

/** The layout of what a primitive element may have beside its value: id and extensions. */
export function getPrimitiveLayout(): Layout {
  const definition = findTypeDefinition('Element');
  if (definition === undefined) throw new Error('R4 defines no type Element');
  return getLayout(definition);
}

function membersOf(definition: TypeDefinition): ReadonlyMap<string, Member> {
  const elements = [...definition.elements.values()];
  const members = elements.flatMap((element, order) =>
    element.types.map((type) => memberOf(definition, element, type, order)),
  );
  return new Map(members.map((member) => [member.name, member]));
}

function memberOf(owner: TypeDefinition, element: ElementDefinition, type: ElementType, order: number): Member {
  const name = buildJsonName(element, type);
  const definition = element.children ?? findTypeDefinition(type.code);
  if (definition === undefined) throw new Error(`${element.path} has the unknown type ${type.code}`);
  return {
    kind: kindOf(owner, element, definition),
    name,
    siblingName: `_${name}`,
    pathName: element.name,
    order,
    repeats: element.max > 1,
    scalar: scalarKindOf(type.code),
    typeName: type.code,
    definition: definition.kind === 'primitive-type' ? undefined : definition,
  };
}

/** https://hl7.org/fhir/R4/xml.html: "A few properties are represented as attributes". */
function kindOf(owner: TypeDefinition, element: ElementDefinition, definition: TypeDefinition): Member['kind'] {
  if (element.name === 'id' && owner.kind !== 'resource') return 'attribute';
  if (element.path === 'Extension.url') return 'attribute';
  if (definition.kind === 'resource') return 'resource';
  if (definition.kind !== 'primitive-type') return 'object';
  return definition.name === 'xhtml' ? 'xhtml' : 'scalar';
}

function scalarKindOf(type: string): ScalarKind {
  if (type === 'boolean' || type === 'decimal') return type;
  if (isSubtypeOf(type, 'integer')) return 'integer';
  return type === 'string' || type === 'markdown' ? 'text' : 'token';
}

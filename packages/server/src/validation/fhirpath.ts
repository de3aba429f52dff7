/**
 * FHIRPath by the library `fhirpath`: expressions are compiled once and evaluated on one element. Nothing is fetched:
 * `resolve()` finds what the resource itself holds, of other references it knows the type only.
 *
 * https://hl7.org/fhirpath/N1/ · https://hl7.org/fhir/R4/fhirpath.html
 */
import { compile, type Model, type UserInvocationTable } from 'fhirpath';
import r4 from 'fhirpath/fhir-context/r4';
import { LRUCache } from 'lru-cache';
import type { ElementNode } from './element-node.ts';
import { resolveReference } from './resolve.ts';

/** Characters of an expression, at most: the longest of R4 has 806. */
export const expressionLengthMax = 8_000;
/** Compiled expressions that are kept: R4 has fewer than 300. */
const compiledMax = 2_000;

type Evaluator = (value: unknown, environment: Readonly<Record<string, unknown>>) => unknown[];

const model: Model = r4;
const compiled = new LRUCache<string, Evaluator>({ max: compiledMax });

/** The resource that `resolve()` looks into: expressions are evaluated one at a time. */
let resolving: ElementNode | undefined;

const functions: UserInvocationTable = {
  resolve: {
    fn: (inputs: readonly unknown[]) =>
      inputs.flatMap((input) => {
        const found = resolving === undefined ? undefined : resolveReference(resolving, dataOf(input));
        return found === undefined ? [] : asNodes(found);
      }),
    arity: { 0: [] },
    internalStructures: true,
  },
};

/** A resource as the library's nodes, which know its type. */
const asNodes = compile('$this', model, { resolveInternalTypes: false });

/**
 * Whether an expression holds on an element. An empty result does not break a rule: what it speaks of is not there.
 * @throws Error when the expression cannot be parsed or evaluated
 */
export function holds(expression: string, node: ElementNode): boolean {
  const results = evaluate(expression, node);
  return results.length === 0 || (results.length === 1 && results[0] !== false);
}

/** The values that an expression selects on an element. @throws Error as `holds` */
export function evaluate(expression: string, node: ElementNode): unknown[] {
  if (expression.length > expressionLengthMax) throw new Error(`longer than ${expressionLengthMax} characters`);
  const { resource, rootResource, index, parent, element } = node;
  const environment = { resource, rootResource, elementIndex: index };
  resolving = node;
  try {
    if (node.definition.kind === 'primitive-type' && parent !== undefined && element !== undefined) {
      // From the parent, which alone holds the extensions of a primitive.
      const selected = `\`${element.name}\`.skip(%elementIndex).first().select(${expression}\n)`;
      return evaluator(baseOf(parent), selected)(parent.value, environment);
    }
    return evaluator(baseOf(node), expression)(node.value, environment);
  } finally {
    resolving = undefined;
  }
}

/** What a node of the library holds; texts come as they are. */
function dataOf(input: unknown): unknown {
  return typeof input === 'object' && input !== null && 'data' in input ? input.data : input;
}

/** Where the library finds the elements inside: a type, or the path of an element that declares its own. */
function baseOf(node: ElementNode): string {
  return node.definition.name.replaceAll('[x]', '');
}

function evaluator(base: string, expression: string): Evaluator {
  const key = `${base} ${expression}`;
  let found = compiled.get(key);
  if (found === undefined) {
    found = compile({ base, expression }, model, { traceFn: () => undefined, userInvocationTable: functions });
    compiled.set(key, found);
  }
  return found;
}

// Path steps: from a value to its elements, through the JSON properties that stand for them.
// https://hl7.org/fhir/R4/json.html and http://hl7.org/fhirpath/N1/#path-selection
import { buildJsonName } from '../definitions.ts';
import { FhirPathError } from './fhirpath-error.ts';
import {
  type Compilation,
  type Continuation,
  countStep,
  type Focus,
  focusOnElement,
  readProperty,
  type Step,
  type Visit,
} from './focus.ts';

/** Compiles the step from a focus to its element of a name: one branch per type that the element can have. */
export function compileElement(name: string, focus: Focus, compilation: Compilation, then: Continuation) {
  if (focus.primitive && name === 'extension') return compilePrimitiveExtensions(focus, then);
  const element = focus.definition?.elements.get(name);
  if (element === undefined) {
    const known = focus.definition?.elements.keys() ?? [];
    throw new FhirPathError(`Unknown element ${name} of ${focus.typeName}`, compilation.expression, { name, known });
  }
  const elementPath = `${focus.elementPath}.${name}${element.choice ? '[x]' : ''}`;
  const failures: FhirPathError[] = [];
  let step: Step | undefined;
  for (const type of element.types) {
    countStep(compilation);
    const next = continued(focusOnElement(type, element.children, elementPath), then, failures);
    if (next !== undefined) step = combineSteps(step, elementStep(buildJsonName(element, type), `.${name}`, next));
  }
  // `value.code` is right as long as one of the types of value[x] has a code.
  const [failure] = failures;
  if (failure !== undefined && failures.length === element.types.length) throw failure;
  return step;
}

function continued(focus: Focus, then: Continuation, failures: FhirPathError[]): Step | undefined {
  try {
    return then(focus);
  } catch (error) {
    if (!(error instanceof FhirPathError)) throw error;
    failures.push(error);
    return undefined;
  }
}

function elementStep(jsonName: string, pathSuffix: string, next: Step): Step {
  if (next.usesSibling) return siblingAwareStep(jsonName, pathSuffix, next);
  const visitNext = next.visit;
  const visit: Visit = (value, path, run) => {
    run.meter.spend(1);
    const child = readProperty(value, jsonName);
    if (child === undefined || child === null) return;
    const childPath = path + pathSuffix;
    if (!Array.isArray(child)) return visitNext(child, childPath, run, undefined);
    run.meter.spend(child.length);
    for (let index = 0; index < child.length; index += 1) {
      const item = child[index];
      if (item !== undefined && item !== null) visitNext(item, `${childPath}[${index}]`, run, undefined);
    }
  };
  return { visit, usesSibling: false };
}

// https://hl7.org/fhir/R4/json.html#primitive: ids and extensions of a primitive stand in a property '_name'.
function siblingAwareStep(jsonName: string, pathSuffix: string, next: Step): Step {
  const siblingName = `_${jsonName}`;
  const visit: Visit = (value, path, run) => {
    run.meter.spend(1);
    const child = readProperty(value, jsonName);
    const sibling = readProperty(value, siblingName);
    const childPath = path + pathSuffix;
    if (!Array.isArray(child) && !Array.isArray(sibling)) {
      if ((child ?? sibling ?? null) !== null) next.visit(child ?? null, childPath, run, sibling);
      return;
    }
    const children = Array.isArray(child) ? child : [];
    const siblings = Array.isArray(sibling) ? sibling : [];
    const count = Math.max(children.length, siblings.length);
    run.meter.spend(count);
    for (let index = 0; index < count; index += 1) {
      const item = children[index] ?? null;
      const itemSibling = siblings[index] ?? undefined;
      if (item !== null || itemSibling !== undefined) next.visit(item, `${childPath}[${index}]`, run, itemSibling);
    }
  };
  return { visit, usesSibling: false };
}

function compilePrimitiveExtensions(focus: Focus, then: Continuation): Step | undefined {
  const next = then(focusOnElement({ code: 'Extension' }, undefined, `${focus.elementPath}.extension`));
  if (next === undefined) return undefined;
  const inner = elementStep('extension', '.extension', next);
  const visit: Visit = (_, path, run, sibling) => {
    if (sibling !== undefined) inner.visit(sibling, path, run, undefined);
  };
  return { visit, usesSibling: true };
}

/** Compiles extension(url). https://hl7.org/fhir/R4/fhirpath.html#functions */
export function compileExtension(url: string, focus: Focus, compilation: Compilation, then: Continuation) {
  return compileElement('extension', focus, compilation, (extension) => {
    const next = then(extension);
    if (next === undefined) return undefined;
    compilation.touched.add(`${extension.elementPath}.url`);
    const visit: Visit = (value, path, run) => {
      if (readProperty(value, 'url') === url) next.visit(value, path, run, undefined);
    };
    return { visit, usesSibling: false };
  });
}

/** Both steps one after the other; a missing one is left out. */
export function combineSteps(left: Step | undefined, right: Step | undefined): Step | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const visit: Visit = (value, path, run, sibling) => {
    left.visit(value, path, run, sibling);
    right.visit(value, path, run, sibling);
  };
  return { visit, usesSibling: left.usesSibling || right.usesSibling };
}

/** Makes the features take part in the engine, which imports none of them. */
import { registerHooks } from '../engine/hooks.ts';
import { registerOperations } from '../operations/registry.ts';
import { features, operations } from './features.ts';

/** Registers operations and hooks; again changes nothing. */
export function registerPractice(): void {
  registerOperations(operations);
  registerHooks([...behaviourHooks, ...features.flatMap(({ hooks }) => hooks ?? [])]);
}

const behaviourHooks = features.flatMap(({ behaviours }) =>
  (behaviours ?? []).map((behaviour) => ({ types: [behaviour.type], behaviour })),
);

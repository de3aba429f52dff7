/**
 * From what a handler returns to what is sent: only members that the action declares, so nothing leaves by accident.
 */

import type { Member, Output, Shape } from '../actions/schema.ts';
import { toInstant } from '../base/clock.ts';
import { fail } from '../base/errors.ts';

/** The answer's JSON value, with so many rows at most; undefined for an action that answers nothing. */
export function buildAnswer(output: Output, result: unknown, rowsMax: number): object | undefined {
  switch (output.kind) {
    case 'nothing':
      return undefined;
    case 'one':
      return shaped(output.shape, result);
    case 'list': {
      const rows = listOf(result);
      return {
        items: rows.slice(0, rowsMax).map((row) => shaped(output.shape, row)),
        more: rows.length > rowsMax,
      };
    }
  }
}

function shaped(shape: Shape, value: unknown): object {
  if (typeof value !== 'object' || value === null) return wrong('an object');
  const members = new Map<string, unknown>(Object.entries(value));
  return Object.fromEntries(
    Object.entries(shape).flatMap(([name, member]) => {
      const given = members.get(member.kind === 'time' ? `${name}Ms` : name);
      if (given === undefined && member.optional === true) return [];
      return [[name, given === null && member.nullable === true ? null : memberOf(name, member, given)]];
    }),
  );
}

function memberOf(name: string, member: Member, value: unknown): unknown {
  switch (member.kind) {
    case 'time':
      return typeof value === 'number' ? toInstant(value) : wrong(name);
    case 'text':
    case 'choice':
      return typeof value === 'string' ? value : wrong(name);
    case 'integer':
      return typeof value === 'number' ? value : wrong(name);
    case 'flag':
      return typeof value === 'boolean' ? value : wrong(name);
    case 'texts':
      return listOf(value).map(String);
    case 'flags':
    case 'document':
      return typeof value === 'object' && value !== null ? value : wrong(name);
    case 'object':
      return shaped(member.shape, value);
    case 'list':
      return listOf(value).map((each) => shaped(member.shape, each));
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : wrong('a list');
}

function wrong(what: string): never {
  return fail('internal', { diagnostics: `An action gave no ${what}` });
}

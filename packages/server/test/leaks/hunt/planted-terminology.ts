/** Value sets, code systems and a profile of the firms of the leak hunt. */
import type { Secret } from '../worlds.ts';
import type { Planted } from './chosen.ts';

export const systemUrl = 'http://example.org/system';

/** Those who see what is active see sets that take in what they do not see. */
export function terminologyOf(value: Secret): readonly Planted[] {
  const set = (id: string, status: string, include: readonly object[]): Planted => ({
    resourceType: 'ValueSet',
    id,
    url: `http://example.org/${id}`,
    status,
    compose: { include },
  });
  const system = (id: string, status: string, concept: readonly object[]): Planted => ({
    resourceType: 'CodeSystem',
    id,
    url: `http://example.org/${id}`,
    status,
    content: 'complete',
    hierarchyMeaning: 'is-a',
    concept,
  });
  const genders = { system: 'http://hl7.org/fhir/administrative-gender' };
  return [
    system('system', 'draft', [{ code: 'root', concept: [{ code: value }] }]),
    system('open-system', 'active', [{ code: 'root', concept: [{ code: 'seen' }] }]),
    set('set', 'draft', [{ system: systemUrl, concept: [{ code: value }] }]),
    set('genders', 'draft', [{ ...genders, concept: [{ code: value === 'alpha' ? 'female' : 'male' }] }]),
    set('open-set', 'active', [{ system: 'http://example.org/open-system' }]),
    set('taking', 'active', [{ valueSet: ['http://example.org/genders'] }, { system: systemUrl }]),
  ];
}

/** What $validate finds by its URL. */
export const profile: Planted = {
  resourceType: 'StructureDefinition',
  id: 'profile',
  url: 'http://example.org/profile',
  name: 'Profile',
  status: 'active',
  kind: 'resource',
  abstract: false,
  type: 'Patient',
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
  derivation: 'constraint',
  differential: { element: [{ id: 'Patient', path: 'Patient' }] },
};

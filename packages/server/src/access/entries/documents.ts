/**
 * Documents and uploads. https://hl7.org/fhir/R4/documentreference.html
 *
 * `bnry_c_url` opens no interaction on Binary, only the operation that answers with an upload URL.
 */
import { defineResource, type EntryArea } from './definition.ts';

export const documents: EntryArea = {
  title: 'Documents',
  entries: [
    defineResource('doc_ref', 'DocumentReference', 'Documents', { letters: 'rscu', sample: 'rsc' }),
    defineResource('bnry', 'Binary', 'Asking for an upload URL', {
      letters: '',
      sample: '',
      fields: { url: [] },
      fieldLetters: 'c',
      published: ['c_url'],
      ability: 'upload-url',
    }),
  ],
};

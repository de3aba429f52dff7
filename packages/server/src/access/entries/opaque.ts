/** Published entries whose meaning is unknown: they grant nothing until an operator gives them one. */
import type { EntryArea } from './definition.ts';

export const opaque: EntryArea = {
  title: 'Entries of unknown meaning',
  entries: [
    { kind: 'opaque', code: 'm_t', means: 'Meaning not published', sample: false },
    { kind: 'opaque', code: 't_s', means: 'Meaning not published', sample: false },
    { kind: 'opaque', code: 'mynwscp', means: 'Meaning not published', sample: false },
  ],
};

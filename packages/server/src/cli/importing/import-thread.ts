/** The program of a thread of an import. */
import { findSourcesByName } from '../find-sources.ts';

findSourcesByName();
const { importSentChunks } = await import('./import-sent-chunks.ts');
await importSentChunks();

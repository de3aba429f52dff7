import type { PracticeFeature } from '../feature.ts';
import { contentHooks } from './attach-content.ts';
import { contentUpkeepJob } from './upkeep.ts';
import { uploadHooks } from './upload-url.ts';

/** Contents of documents: uploads, links, and the removal of what no document holds. */
export const documentsFeature: PracticeFeature = {
  hooks: [uploadHooks, contentHooks],
  jobs: [contentUpkeepJob],
};

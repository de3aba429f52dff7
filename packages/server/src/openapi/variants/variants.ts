/**
 * Lighter documents beside the whole one: of one tag, of one guide, and of everything without schemas that lead to themselves.
 * Their schemas have no cycles (docs/decisions/0338).
 */

import {
  buildComponents,
  buildDocumentHead,
  buildPathsOfTag,
  buildWebhooksOfTag,
  type DocumentFacts,
  type OpenApiDocument,
  openApiDocument,
} from '../document.ts';
import { slugTag } from '../openapi.ts';
import { cutCycles } from './cycles.ts';
import { guideOperations } from './guides.ts';
import { pickOperations, trimDocument } from './part.ts';

export interface DocumentVariants {
  /** The operations of a tag, by its name in URLs; undefined where there is no such tag. */
  ofTag(slug: string): OpenApiDocument | undefined;
  /** The operations of a guide; undefined where it has no document. */
  ofGuide(guide: string): OpenApiDocument | undefined;
  /** Everything. */
  whole(): OpenApiDocument;
}

/** The variants. What they share is made when one is first asked for, and kept. */
export function openVariants(facts: DocumentFacts): DocumentVariants {
  let made: OpenApiDocument['components'] | undefined;
  const components = (): OpenApiDocument['components'] => {
    made ??= cutCycles(buildComponents());
    return made;
  };
  const build = (paths: OpenApiDocument['paths'], webhooks: OpenApiDocument['webhooks']): OpenApiDocument =>
    trimDocument({ ...buildDocumentHead(facts), paths, webhooks, components: components() });
  return {
    ofTag(slug) {
      const tag = buildDocumentHead(facts).tags.find(({ name }) => slugTag(name) === slug)?.name;
      return tag === undefined ? undefined : build(buildPathsOfTag(facts, tag), buildWebhooksOfTag(tag));
    },
    ofGuide(guide) {
      const byTag = Object.hasOwn(guideOperations, guide) ? Object.entries(guideOperations[guide] ?? {}) : [];
      if (byTag.length === 0) return undefined;
      const ids = new Set(byTag.flatMap(([, those]) => those));
      const paths = byTag.map(([tag]) => pickOperations(buildPathsOfTag(facts, tag), ids));
      const webhooks = byTag.map(([tag]) => pickOperations(buildWebhooksOfTag(tag), ids));
      return build(Object.assign({}, ...paths), Object.assign({}, ...webhooks));
    },
    whole: () => ({ ...openApiDocument(facts), components: components() }),
  };
}

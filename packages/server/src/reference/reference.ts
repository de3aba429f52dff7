/**
 * The documentation of the service as pages (docs/decisions/0337): guides, and a reference that is made of the OpenAPI document,
 * operation by operation. A page costs what its own tag costs; what all share is made when the first is asked for.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type AdministrationDocument, buildAdministrationDocument } from '../openapi/administration.ts';
import {
  buildComponents,
  buildDocumentHead,
  buildPathsOfTag,
  buildWebhooksOfTag,
  type DocumentFacts,
  type OpenApiDocument,
} from '../openapi/document.ts';
import { slugTag } from '../openapi/openapi.ts';
import { anyType, searchParameterComponents } from '../openapi/search-parameters.ts';
import { guideOperations } from '../openapi/variants/guides.ts';
import { type Area, buildGuidePath, buildOperationPath, buildSchemaPath, buildTagPath, docsPath } from './addresses.ts';
import { type Guide, listGuides, renderGuide } from './guides.ts';
import { type NavigationGroup, type NavigationLink, openFrame, type PageFrame } from './layout.ts';
import { renderGuidePage, renderHome, renderTag } from './lists.ts';
import type { Html } from './markup/html.ts';
import { type DescribedOperation, listOperations, References } from './operation/described-operation.ts';
import { renderOperation } from './operation/operation-page.ts';
import type { Place } from './operation/request-panel.ts';
import { renderSchema } from './schema-page.ts';
import { listGuideEntries, listTagEntries, type SearchEntry } from './search-index.ts';

export interface ReferenceFacts extends DocumentFacts {
  /** Where the requests of the pages go to. */
  readonly place: Place;
}

const areas: readonly Area[] = ['reference', 'administration'];

/** Tags whose operations are listed before others get their turn, while the index of the search is made. */
const tagsOfTurn = 4;

const pathPattern = /^\/docs\/(guides|reference|administration|schemas)\/([A-Za-z0-9-]+)(?:\/([A-Za-z0-9]+))?$/;

/** The pages. They are made anew each time; what they are made of is kept. */
export class Reference {
  readonly #facts: ReferenceFacts;
  readonly #frame: PageFrame;
  /** What all pages refer to: search parameters are those of no single type. */
  readonly #components = buildComponents([anyType]);
  readonly #references = new References(this.#components);
  readonly #administration: AdministrationDocument;
  readonly #administrationReferences: References;
  readonly #tags: OpenApiDocument['tags'];
  readonly #guides: readonly Guide[] = listGuides();
  /** The operations of the tag that was looked at last: who reads of one reads of its neighbours. */
  #latest: { readonly path: string; readonly operations: readonly DescribedOperation[] } | undefined;
  /** Ids of the operations of tags that were looked at, by path: a page that is unknown there makes nothing anew. */
  readonly #ids = new Map<string, ReadonlySet<string>>();

  constructor(facts: ReferenceFacts) {
    const { softwareVersion, environmentOrigins, realmOrigins } = facts;
    this.#facts = facts;
    this.#frame = openFrame(softwareVersion, { environments: environmentOrigins, realms: realmOrigins });
    this.#tags = buildDocumentHead(facts).tags;
    this.#administration = buildAdministrationDocument(softwareVersion);
    this.#administrationReferences = new References(this.#administration.components);
  }

  /** Content-Security-Policy of the pages. */
  get policy(): string {
    return this.#frame.policy;
  }

  /** The page at a path; undefined where there is none. */
  find(path: string): string | undefined {
    if (path === docsPath) return this.#home();
    const [, area, name = '', operationId] = pathPattern.exec(path) ?? [];
    if (area === 'reference' || area === 'administration')
      return operationId === undefined ? this.#tag(area, name) : this.#operation(area, name, operationId);
    if (operationId !== undefined) return undefined;
    return area === 'guides' ? this.#guide(name) : area === 'schemas' ? this.#schema(name) : undefined;
  }

  /** The index that the search of the pages loads. */
  async buildSearchIndex(): Promise<string> {
    const entries: SearchEntry[] = this.#guides.flatMap((guide) => listGuideEntries(renderGuide(guide)));
    for (const area of areas) {
      for (const [index, { name }] of this.#tagsOf(area).entries()) {
        entries.push(...listTagEntries(name, area, this.#operationsOf(area, name)));
        if (index % tagsOfTurn === 0) await nextTurn();
      }
    }
    return JSON.stringify(entries);
  }

  #home(): string {
    const main = renderHome(this.#guides, this.#tags, this.#administration.tags);
    return this.#page(docsPath, 'Documentation', main, [this.#guideLinks(), this.#tagLinks()]);
  }

  #guide(name: string): string | undefined {
    const guide = this.#guides.find((each) => each.name === name);
    if (guide === undefined) return undefined;
    const operations = Object.entries(guideOperations[name] ?? {}).flatMap(([tag, ids]) =>
      this.#operationsOf('reference', tag).filter(({ operation }) => ids.includes(operation.operationId)),
    );
    const main = renderGuidePage(renderGuide(guide), operations);
    return this.#page(buildGuidePath(name), guide.title, main, [this.#guideLinks()]);
  }

  #tag(area: Area, slug: string): string | undefined {
    const tag = this.#tagsOf(area).find(({ name }) => slugTag(name) === slug);
    if (tag === undefined) return undefined;
    const operations = this.#operationsOf(area, tag.name);
    const main = renderTag(tag, area, operations);
    const navigation = [listLinks(tag.name, operations), this.#tagLinks()];
    return this.#page(buildTagPath(tag.name, area), tag.name, main, navigation);
  }

  #operation(area: Area, slug: string, operationId: string): string | undefined {
    const tag = this.#tagsOf(area).find(({ name }) => slugTag(name) === slug)?.name;
    if (tag === undefined || this.#ids.get(buildTagPath(tag, area))?.has(operationId) === false) return undefined;
    const operations = this.#operationsOf(area, tag);
    const described = operations.find(({ operation }) => operation.operationId === operationId);
    if (described === undefined) return undefined;
    const references = area === 'administration' ? this.#administrationReferences : this.#references;
    const main = renderOperation(described, references, this.#facts.place);
    const navigation = [listLinks(tag, operations), this.#tagLinks()];
    return this.#page(buildOperationPath(tag, operationId, area), described.operation.summary, main, navigation);
  }

  #schema(name: string): string | undefined {
    const main = renderSchema(name, this.#references) ?? renderSchema(name, this.#administrationReferences);
    return main && this.#page(buildSchemaPath(name), name, main, [this.#tagLinks()]);
  }

  #page(url: string, title: string, main: Html, navigation: readonly NavigationGroup[]): string {
    return this.#frame.render({ url, title: `${title} · Praxis`, main, navigation });
  }

  #tagsOf(area: Area): OpenApiDocument['tags'] {
    return area === 'administration' ? this.#administration.tags : this.#tags;
  }

  #operationsOf(area: Area, tag: string): readonly DescribedOperation[] {
    const path = buildTagPath(tag, area);
    if (this.#latest?.path === path) return this.#latest.operations;
    const operations = area === 'administration' ? this.#listAdministration(tag) : this.#listReference(tag);
    this.#latest = { path, operations };
    this.#ids.set(path, new Set(operations.map(({ operation }) => operation.operationId)));
    return operations;
  }

  #listReference(tag: string): readonly DescribedOperation[] {
    const parameters = { ...this.#components['parameters'], ...searchParameterComponents([tag]) };
    const references = new References({ ...this.#components, parameters });
    return [
      ...listOperations(buildPathsOfTag(this.#facts, tag), references),
      ...listOperations(buildWebhooksOfTag(tag), references, 'webhook'),
    ];
  }

  #listAdministration(tag: string): readonly DescribedOperation[] {
    const all = listOperations(this.#administration.paths, this.#administrationReferences, 'administration');
    return all.filter((described) => described.tag === tag);
  }

  #guideLinks(): NavigationGroup {
    return { title: 'Guides', links: this.#guides.map(({ name, title }) => ({ title, url: buildGuidePath(name) })) };
  }

  /** The groups of operations; resource types are on the front page. */
  #tagLinks(): NavigationGroup {
    const general = this.#tags.filter(({ description }) => description !== undefined);
    return { title: 'Reference', links: general.map(({ name }) => ({ title: name, url: buildTagPath(name) })) };
  }
}

function listLinks(title: string, operations: readonly DescribedOperation[]): NavigationGroup {
  const links = operations.map(({ tag, area, method, operation: { operationId, summary } }): NavigationLink => {
    return { title: summary, hint: method, url: buildOperationPath(tag, operationId, area) };
  });
  return { title, links };
}

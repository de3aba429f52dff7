/**
 * What all pages of the documentation have: head, search, navigation, one style and one script. Both stand in the page and are
 * named by their hash, so that nothing else is run or loaded (https://www.w3.org/TR/CSP3/#external-hash).
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { acyclicDocumentPath, docsPath, searchIndexPath } from './addresses.ts';
import { Html, html } from './markup/html.ts';
import { writeSampleScript } from './operation/samples.ts';

/** A link of the navigation beside a page. */
export interface NavigationLink {
  readonly title: string;
  readonly url: string;
  /** What tells it from others of the same title. */
  readonly hint?: string;
}

export interface NavigationGroup {
  readonly title: string;
  readonly links: readonly NavigationLink[];
}

export interface PageContent {
  /** Of the window. */
  readonly title: string;
  readonly main: Html;
  /** Links beside the page, by heading. */
  readonly navigation: readonly NavigationGroup[];
  /** URL of the page. */
  readonly url: string;
}

export interface PageFrame {
  /** Content-Security-Policy of every page. */
  readonly policy: string;
  render(page: PageContent): string;
}

/** Origins that environments and realms have of their own, by name. */
export interface OwnOrigins {
  readonly environments: ReadonlyMap<string, string>;
  readonly realms: ReadonlyMap<string, string>;
}

/** What is around the content of each page. */
export function openFrame(version: string, origins: OwnOrigins): PageFrame {
  const style = readAsset('page.css').replaceAll(/\n\s*/g, '');
  const script = `'use strict';\n(() => {\n${writeSampleScript()}\n${readAsset('page.js')}})();\n`;
  const others = new Set([...origins.environments.values(), ...origins.realms.values()]);
  const data = JSON.stringify({
    environments: Object.fromEntries(origins.environments),
    realms: Object.fromEntries(origins.realms),
  });
  return {
    policy: buildPolicy(style, script, [...others]),
    render: ({ title, main, navigation, url }) =>
      html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title}</title><link rel="icon" href="data:,"><style>${new Html(style)}</style></head>
<body data-origins="${data}"><a class="skip" href="#page-content">Skip to the content</a><header><a class="brand" href="${docsPath}">Praxis</a><nav aria-label="Documentation"><a href="${docsPath}#guides">Guides</a> <a href="${docsPath}#reference">Reference</a> <a href="${docsPath}#administration">Administration</a></nav><search class="search" hidden><label for="search-field" class="unseen">Search the documentation</label><input type="search" id="search-field" placeholder="Search" autocomplete="off" data-index="${searchIndexPath}"><ul id="search-results" hidden></ul><span id="search-count" class="unseen" role="status"></span></search></header>
<div class="frame"><main id="page-content" tabindex="-1">${main}</main>${renderNavigation(navigation, url)}</div>
<footer>Praxis ${version} · <a href="/openapi.json">OpenAPI 3.1</a> · <a href="${acyclicDocumentPath}">without cycles</a> · <a href="/admin/openapi.json">administration</a></footer>
<script>${new Html(script)}</script></body></html>
`.text,
  };
}

function renderNavigation(groups: readonly NavigationGroup[], url: string): Html {
  const lists = groups.map(({ title, links }) => {
    const items = links.map(
      (link) =>
        html`<li><a href="${link.url}"${link.url === url && html` aria-current="page"`}>${link.title}${link.hint !== undefined && html` <small>${link.hint}</small>`}</a></li>`,
    );
    return html`<h2>${title}</h2><ul>${items}</ul>`;
  });
  return html`<nav class="beside" aria-label="Pages">${lists}</nav>`;
}

/** Files of the browser: they are sent as they are. */
function readAsset(name: string): string {
  return readFileSync(new URL(`./browser/${name}`, import.meta.url), 'utf8');
}

/** @param origins those of the API that are not the page's own */
function buildPolicy(style: string, script: string, origins: readonly string[]): string {
  const digest = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;
  return [
    "default-src 'none'",
    `script-src ${digest(script)}`,
    `style-src ${digest(style)}`,
    'img-src data:',
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

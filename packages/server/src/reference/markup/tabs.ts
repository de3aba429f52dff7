/**
 * Tabs: one of several panels is shown. They are radio buttons, so that the keyboard moves among them as the browser has it,
 * and none needs a script.
 */
import { type Html, html } from './html.ts';

export interface Panel {
  readonly label: string;
  readonly body: Html;
}

/** Languages of code blocks whose examples say the same thing in several ways. */
const labels: Readonly<Record<string, string>> = {
  sh: 'HTTP',
  bash: 'HTTP',
  curl: 'HTTP',
  http: 'HTTP',
  ts: 'TypeScript',
  typescript: 'TypeScript',
  js: 'TypeScript',
  py: 'Python',
  python: 'Python',
};

/** The name of the tab of a language; undefined for output and data, which belong to no tab. */
export function findTabLabel(language: string | undefined): string | undefined {
  const name = language ?? '';
  return Object.hasOwn(labels, name) ? labels[name] : undefined;
}

/** A group of tabs, the first of which is shown. @param name of the group, unique in its page */
export function renderTabs(name: string, panels: readonly Panel[]): Html {
  const buttons = panels.map(
    ({ label }, index) =>
      html`<input type="radio" name="${name}" id="${name}-${index}" value="${label}"${index === 0 && html` checked`}><label for="${name}-${index}">${label}</label>`,
  );
  const shown = panels.map(({ label, body }) => html`<div class="panel" data-label="${label}">${body}</div>`);
  return html`<fieldset class="tabs"><legend>Language</legend>${buttons}${shown}</fieldset>`;
}

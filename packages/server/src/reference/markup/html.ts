/**
 * HTML whose text is escaped (https://html.spec.whatwg.org/multipage/syntax.html): a template is the only way to make some.
 */

/** HTML that needs no more escaping. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What stands in a template: text and numbers are escaped, lists are put together, undefined and false are nothing. */
export type Fragment = Html | string | number | undefined | false | readonly Fragment[];

/** A template. Attribute values have to be in double quotes. */
export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  const [first = '', ...rest] = strings;
  return new Html(rest.reduce((text, part, index) => text + toText(values[index]) + part, first));
}

/** Several fragments as one. */
export function joinHtml(fragments: readonly Fragment[], separator = ''): Html {
  return new Html(fragments.map(toText).join(separator));
}

function toText(fragment: Fragment): string {
  if (fragment === undefined || fragment === false) return '';
  if (fragment instanceof Html) return fragment.text;
  return typeof fragment === 'object' ? fragment.map(toText).join('') : escapeText(String(fragment));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/**
 * The elements and attributes that a narrative may have: those of HTML 4.0 chapters 7 to 11 (without section 4 of
 * chapter 9) and 15, links, images and style attributes. Everything else is refused, so scripts, forms, frames,
 * objects, style sheets and event attributes are.
 *
 * https://hl7.org/fhir/R4/narrative.html#xhtml · https://www.w3.org/TR/1998/REC-html40-19980424/
 */

/** Attributes of every element: HTML 4.0 %attrs without events, and `xml:lang` of XHTML. */
const everywhere = 'id class style title lang xml:lang dir xmlns';
const cellAlignment = 'align char charoff valign';

/** Elements → attributes of their own. */
const rows: readonly (readonly [elements: string, attributes: string])[] = [
  // 7.5 grouping and headings
  ['div h1 h2 h3 h4 h5 h6', 'align'],
  ['span address', ''],
  // 8.2 direction
  ['bdo', ''],
  // 9.2, 9.3 text
  ['em strong dfn code samp kbd var cite abbr acronym sub sup', ''],
  ['blockquote q', 'cite'],
  ['p', 'align'],
  ['br', 'clear'],
  ['pre', 'width xml:space'],
  // 10 lists
  ['ul', 'type compact'],
  ['ol', 'type start compact'],
  ['li', 'type value'],
  ['dl', 'compact'],
  ['dt dd', ''],
  // 11 tables
  ['table', 'summary width border frame rules cellspacing cellpadding align bgcolor'],
  ['caption', 'align'],
  ['colgroup col', `${cellAlignment} span width`],
  ['thead tfoot tbody', cellAlignment],
  ['tr', `${cellAlignment} bgcolor`],
  ['th td', `${cellAlignment} abbr axis headers scope rowspan colspan nowrap bgcolor width height`],
  // 15 fonts and rules
  ['tt i b big small s strike u center', ''],
  ['font', 'size color face'],
  ['hr', 'align noshade size width'],
  // links and images
  ['a', 'name href hreflang type rel rev charset accesskey tabindex shape coords'],
  ['img', 'src alt longdesc height width border align hspace vspace usemap ismap'],
  ['map', 'name'],
  ['area', 'shape coords href nohref alt accesskey tabindex'],
];

/** Element → all attributes that it may have. */
export const narrativeElements: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  rows.flatMap(([elements, attributes]) =>
    elements.split(' ').map((element) => [element, new Set(`${everywhere} ${attributes}`.split(' '))] as const),
  ),
);

/** Attributes whose value is a URL → URL schemes they may have beside relative URLs. */
export const narrativeUrlSchemes: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['href', new Set(['http', 'https', 'mailto', 'ftp', 'tel', 'urn', 'cid'])],
  ['src', new Set(['http', 'https', 'data', 'cid'])],
  ['cite', new Set(['http', 'https', 'ftp', 'urn'])],
  ['longdesc', new Set(['http', 'https', 'ftp', 'urn'])],
  ['usemap', new Set<string>()],
]);

// A view over the generated tables of R4's code systems and value sets. They are large and most processes never ask, so
// they are loaded at the first question; what is asked for is parsed then, nothing else.
// https://hl7.org/fhir/R4/terminologies-systems.html · https://hl7.org/fhir/R4/terminologies-valuesets.html
import { getOrMake } from './memo.ts';

/** A concept of a code system: a property that occurs more than once has more than one row. */
export interface PublishedConcept {
  readonly code: string;
  readonly display?: string;
  /** 0 for the concepts at the top; the parent is the nearest earlier concept that is less deep. */
  readonly depth: number;
  readonly properties: readonly (readonly [name: string, value: string])[];
}

/** https://hl7.org/fhir/R4/codesystem.html, as far as codes, displays and their hierarchy go. */
export interface PublishedCodeSystem {
  readonly url: string;
  readonly version?: string;
  readonly name?: string;
  readonly title?: string;
  /** 'fragment' also for systems of others whose codes are known from R4's expansions alone. */
  readonly content: string;
  readonly caseSensitive?: boolean;
  readonly hierarchyMeaning?: string;
  /** In the order of the definition, each before those beneath it. */
  readonly concepts: readonly PublishedConcept[];
}

/** `ValueSet.compose.include` and `exclude`: https://hl7.org/fhir/R4/valueset-definitions.html#ValueSet.compose.include */
export interface PublishedComposePart {
  readonly system?: string;
  readonly version?: string;
  readonly concept?: readonly { readonly code: string; readonly display?: string }[];
  readonly filter?: readonly { readonly property: string; readonly op: string; readonly value: string }[];
  readonly valueSet?: readonly string[];
}

/** https://hl7.org/fhir/R4/valueset.html */
export interface PublishedValueSet {
  readonly url: string;
  readonly version?: string;
  readonly name: string;
  readonly title?: string;
  readonly status: string;
  readonly compose: {
    readonly include: readonly PublishedComposePart[];
    readonly exclude?: readonly PublishedComposePart[];
  };
}

/** The code systems and value sets that R4 publishes, by canonical URL without version; undefined for any other. */
export interface PublishedTerminology {
  codeSystem(url: string): PublishedCodeSystem | undefined;
  valueSet(url: string): PublishedValueSet | undefined;
  readonly codeSystemUrls: readonly string[];
  readonly valueSetUrls: readonly string[];
}

let loading: Promise<PublishedTerminology> | undefined;

/** R4's terminology; loaded once, at the first call. */
export function loadTerminology(): Promise<PublishedTerminology> {
  loading ??= load();
  return loading;
}

async function load(): Promise<PublishedTerminology> {
  const { codeSystemTexts } = await import('./generated/code-systems.js');
  const { valueSetDefinitionTexts } = await import('./generated/value-set-definitions.js');
  const codeSystems = new Map<string, PublishedCodeSystem>();
  const valueSets = new Map<string, PublishedValueSet>();
  return {
    codeSystem(url) {
      const text = Object.hasOwn(codeSystemTexts, url) ? codeSystemTexts[url] : undefined;
      return text === undefined ? undefined : getOrMake(codeSystems, url, () => parseCodeSystem(url, text));
    },
    valueSet(url) {
      const text = Object.hasOwn(valueSetDefinitionTexts, url) ? valueSetDefinitionTexts[url] : undefined;
      return text === undefined ? undefined : getOrMake(valueSets, url, () => parseValueSet(url, text));
    },
    codeSystemUrls: Object.keys(codeSystemTexts),
    valueSetUrls: Object.keys(valueSetDefinitionTexts),
  };
}

function parseCodeSystem(url: string, text: string): PublishedCodeSystem {
  const [head = '{}', ...lines] = text.split('\n');
  return { url, ...JSON.parse(head), concepts: lines.map(parseConcept) };
}

function parseValueSet(url: string, text: string): PublishedValueSet {
  return { url, ...JSON.parse(text) };
}

function parseConcept(line: string): PublishedConcept {
  const depth = line.search(/[^ ]/);
  const [code = '', display = '', ...properties] = line.slice(depth).split('\t');
  return {
    code,
    ...(display === '' ? {} : { display }),
    depth,
    properties: properties.map((property) => {
      const end = property.indexOf('=');
      return [property.slice(0, end), property.slice(end + 1)];
    }),
  };
}

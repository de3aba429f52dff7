/**
 * The OpenAPI document of the whole service (https://spec.openapis.org/oas/v3.1.1.html), derived from what the service
 * itself runs by: R4's definitions, shapes of paths and their methods, declared operations, search parameters, grants and
 * the tables of errors. It holds nothing of a tenant: docs/decisions/0135.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { defaultEnvironments } from '../tenancy/environments.ts';
import { buildContentPaths, contentTag } from './content-paths.ts';
import { buildDiscoveryExamples, buildDiscoveryPaths, buildDiscoverySchemas } from './discovery-paths.ts';
import { buildErrorAnswerComponents, buildErrorExampleComponents } from './error-answers.ts';
import { buildExampleComponents } from './examples.ts';
import { buildHeaderComponents } from './headers.ts';
import { buildSystemPaths, buildTypePaths, systemTag } from './interaction-paths.ts';
import { openPaths, serviceTag } from './open-paths.ts';
import { describedMethods, type Paths } from './openapi.ts';
import { buildInputExamples } from './operation-examples.ts';
import {
  buildGeneralOperationPaths,
  buildOperationInputSchemas,
  buildTypeOperationPaths,
  everyTypeTag,
  typeParameter,
} from './operation-paths.ts';
import { buildOwnTokenExamples, buildOwnTokenPaths, ownTokenSchemas } from './own-token-paths.ts';
import { requestBodyComponents } from './request-bodies.ts';
import { requestParameterComponents } from './request-parameters.ts';
import { includeSchema, searchForms, searchParameterComponents, searchSchemas } from './search-parameters.ts';
import { buildSuccessComponents } from './success-answers.ts';
import { buildTokenExamples, buildTokenPaths, tokenSchemas, tokenTag } from './token-paths.ts';
import { buildTypeSchemas } from './type-schemas.ts';
import { buildWebhookExamples, buildWebhooks, type Webhooks, webhookSchemas } from './webhooks.ts';

export interface DocumentFacts {
  readonly softwareVersion: string;
  /** Origins of environments and realms that have one of their own, by name. */
  readonly environmentOrigins: ReadonlyMap<string, string>;
  readonly realmOrigins: ReadonlyMap<string, string>;
}

/** An OpenAPI 3.1 document, as far as it is looked into here. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Paths;
  readonly webhooks: Webhooks;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly [member: string]: unknown;
}

type Components = OpenApiDocument['components'];

/** The document without what it describes. */
interface DocumentHead {
  readonly openapi: string;
  readonly tags: OpenApiDocument['tags'];
  readonly [member: string]: unknown;
}

/** The document. */
export function openApiDocument(facts: DocumentFacts): OpenApiDocument {
  return {
    ...buildDocumentHead(facts),
    paths: { ...buildGeneralPaths(facts), ...Object.assign({}, ...resourceTypesWithEndpoint.map(buildPathsOfType)) },
    webhooks: buildWebhooks(),
    components: buildComponents(),
  };
}

/** What the document says of itself. */
export function buildDocumentHead(facts: DocumentFacts): DocumentHead {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Praxis',
      version: facts.softwareVersion,
      summary: 'A practice-management FHIR R4 API that applications use on behalf of medical practices.',
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: servers(facts),
    security: [{ bearer: [], apiKey: [] }],
    tags: tags(),
  };
}

/** The paths whose operations have a tag. They cost far less than those of all tags. */
export function buildPathsOfTag(facts: DocumentFacts, tag: string): Paths {
  return types.has(tag) ? buildPathsOfType(tag) : pickTag(buildGeneralPaths(facts), tag);
}

/** The webhooks that have a tag. */
export function buildWebhooksOfTag(tag: string): Webhooks {
  return pickTag(buildWebhooks(), tag);
}

const types: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);

function pickTag<Items extends Paths | Webhooks>(items: Items, tag: string): Items {
  const those = Object.entries(items).filter(([, item]) =>
    describedMethods.some((method) => item[method]?.tags.includes(tag) === true),
  );
  return Object.fromEntries(those) as Items;
}

function buildPathsOfType(type: string): Paths {
  return { ...buildTypeOperationPaths(type), ...buildTypePaths(type) };
}

/** The paths of no single type. */
function buildGeneralPaths(facts: DocumentFacts): Paths {
  const root = [{ url: '/' }];
  const realms = [...root, ...[...facts.realmOrigins.values()].map((url) => ({ url }))];
  return {
    ...buildTokenPaths(realms),
    ...buildOwnTokenPaths(realms),
    ...buildDiscoveryPaths(root, realms),
    ...openPaths(root),
    ...buildContentPaths(root),
    ...buildSystemPaths(),
    ...buildGeneralOperationPaths(),
  };
}

/** What paths refer to. @param parametersOf the types whose search parameters are among it, and take most of the time */
export function buildComponents(parametersOf: readonly string[] = resourceTypesWithEndpoint): Components {
  return {
    securitySchemes,
    parameters: { ...requestParameterComponents(), ...typeParameter, ...searchParameterComponents(parametersOf) },
    headers: buildHeaderComponents(),
    requestBodies: requestBodyComponents(),
    responses: { ...buildErrorAnswerComponents(), ...buildSuccessComponents() },
    examples: {
      ...buildExampleComponents(),
      ...buildInputExamples(),
      ...buildTokenExamples(),
      ...buildOwnTokenExamples(),
      ...buildDiscoveryExamples(),
      ...buildErrorExampleComponents(),
      ...buildWebhookExamples(),
    },
    schemas: {
      ...tokenSchemas,
      ...ownTokenSchemas,
      ...buildDiscoverySchemas(),
      ...searchSchemas(),
      ...includeSchema,
      ...searchForms(),
      ...buildOperationInputSchemas(),
      ...webhookSchemas,
      ...buildTypeSchemas(),
    },
  };
}

const description = `Every call carries two credentials of the same application and flow: \`Authorization: Bearer …\` and
\`x-api-key\`. What a call may do is what the token's access entries allow and the practice has authorised.

HEAD is answered wherever GET is. Resources are taken and returned as \`application/fhir+json\` and \`application/fhir+xml\`;
\`application/json\`, \`application/xml\` and the names of earlier versions of FHIR mean the same. Names of search parameters
may have modifiers (\`name:exact\`), chains (\`patient.name\`) and reverse chains (\`_has:Observation:patient:code\`).
Elements of primitive types may have a sibling with an underscore for id and extensions (\`_birthDate\`), which the schemas
leave open.`;

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The access token.' },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The API key of the application for the token flow.',
  },
  clientBasic: { type: 'http', scheme: 'basic', description: 'client_id and client_secret, each form-encoded.' },
};

/** FHIR bases; environments of their own origin have a server each. */
function servers({ environmentOrigins }: DocumentFacts): readonly object[] {
  const [first] = defaultEnvironments;
  const product = { default: first?.products[0] ?? 'pm', description: 'The product.' };
  const firm = { default: 'your-firm', description: 'The practice, or a sandbox firm.' };
  const path = '/{environment}/firm/{firm}/{product}/fhir/v2';
  const own = [...environmentOrigins].map(([name, origin]) => ({
    url: origin + path,
    variables: { environment: { default: name, enum: [name] }, firm, product },
  }));
  const environment = { default: first?.name ?? 'sandbox', description: 'The environment.' };
  return [{ url: path, description: 'A practice', variables: { environment, firm, product } }, ...own];
}

function tags(): OpenApiDocument['tags'] {
  return [
    { name: tokenTag, description: 'Access tokens and discovery.' },
    { name: systemTag, description: 'Interactions with the whole system.' },
    { name: everyTypeTag, description: 'Operations that every type has.' },
    { name: serviceTag, description: 'Health and documentation.' },
    { name: contentTag, description: 'Files of documents, at URLs that need no headers.' },
    ...resourceTypesWithEndpoint.map((name) => ({ name })),
  ];
}

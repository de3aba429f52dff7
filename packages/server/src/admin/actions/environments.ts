/** `praxis environment …`, `praxis product …`: the worlds that paths begin with. */

import { segment } from '../../actions/fields.ts';
import { list, one, type Shape } from '../../actions/schema.ts';
import { createEnvironment, createProduct, environmentKinds, listEnvironments } from '../../tenancy/environments.ts';
import { defineAdminAction } from '../context.ts';

/** Products of an environment that is made. */
const productsMax = 50;

const environment: Shape = {
  name: { kind: 'text', label: 'environment', description: 'The first segment of its paths.' },
  realm: { kind: 'text', description: 'The realm whose client-credentials tokens it accepts.' },
  kind: { kind: 'choice', values: environmentKinds, description: 'Its purpose.' },
  products: { kind: 'texts', description: 'The products that it serves.' },
};

export const environmentActions = [
  defineAdminAction({
    name: 'environment list',
    method: 'GET',
    path: '/environments',
    summary: 'List the environments with their realms and products',
    roles: ['operator'],
    output: list(environment),
    run: async ({ database }) => (await listEnvironments(database)).map(listed),
  }),
  defineAdminAction({
    name: 'environment create',
    method: 'POST',
    path: '/environments',
    summary: 'Create an environment',
    roles: ['operator'],
    creates: true,
    fields: {
      name: { ...segment('The first segment of its paths.'), required: true },
      realm: { ...segment('The realm whose client-credentials tokens it accepts.'), required: true },
      kind: { kind: 'choice', values: environmentKinds, description: 'The default is generic-sandbox.' },
      products: {
        kind: 'texts',
        itemsMax: productsMax,
        lengthMax: 63,
        split: true,
        option: 'product',
        description: 'The default is pm.',
      },
    },
    output: one(environment),
    async run({ database }, { body }) {
      const { name, realm, kind = 'generic-sandbox', products = ['pm'] } = body;
      return listed(await createEnvironment(database, { name, realm, kind, products }));
    },
    command: { arguments: ['name'], print: ({ name, realm }) => [`environment ${name} in realm ${realm}`] },
  }),
  defineAdminAction({
    name: 'product create',
    method: 'POST',
    path: '/environments/{environment}/products',
    summary: 'Add a product to an environment',
    roles: ['operator'],
    fields: { product: { ...segment('Third segment of its paths.'), required: true } },
    run: ({ database }, { path, body }) => createProduct(database, path.environment, body.product),
    command: {
      arguments: ['environment', 'product'],
      print: (_, { path, body }) => [`product ${body.product} in ${path.environment}`],
    },
  }),
];

function listed<T extends { readonly products: ReadonlySet<string> }>(each: T) {
  return { ...each, products: [...each.products] };
}

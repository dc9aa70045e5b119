// Public entry of the approver of kubelets' certificate signing requests.
export { createCertificateController } from './controller.ts';

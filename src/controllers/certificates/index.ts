// Public entry of the approver of kubelets' certificate requests.
export { createCertificateController } from './controller.ts';

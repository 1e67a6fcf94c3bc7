// The client's own check of structured answers, counted: a check that never ran proves nothing.

export class CountingValidator {
    constructor(validator) {
        this.validator = validator;
        this.checked = 0;
        this.schemas = 0;
    }

    getValidator(schema) {
        this.schemas += 1;
        const check = this.validator.getValidator(schema);
        return input => {
            this.checked += 1;
            return check(input);
        };
    }
}

"""From class probabilities to one class.

`costs`: misclassification costs.
`rule`: the decision rule, from costs and class weights.
`positive`: the code of the positive class.
`base_rate`: probabilities for another prior.
"""

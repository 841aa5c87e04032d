import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import weka.classifiers.trees.J48;
import weka.classifiers.trees.j48.C45Split;
import weka.classifiers.trees.j48.ClassifierSplitModel;
import weka.classifiers.trees.j48.ClassifierTree;
import weka.classifiers.trees.j48.Distribution;
import weka.core.Attribute;
import weka.core.Instances;
import weka.core.Utils;

/**
 * Builds J48 trees and prints them as JSON, one line a tree, with every number exact.
 *
 * Weka prints thresholds and weights rounded; the exact ones sit in fields it does not show, so they are read by
 * reflection. Usage: java -cp weka.jar:. J48Dump FILE.arff "OPTIONS" ["OPTIONS" ...]; the class is the last attribute.
 */
public final class J48Dump {

  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  public static void main(String[] arguments) throws Exception {
    Instances data;
    try (BufferedReader reader = new BufferedReader(
        new InputStreamReader(new FileInputStream(arguments[0]), StandardCharsets.UTF_8))) {
      data = new Instances(reader);
    }
    data.setClassIndex(data.numAttributes() - 1);
    for (int i = 1; i < arguments.length; i++) {
      J48 classifier = new J48();
      classifier.setOptions(Utils.splitOptions(arguments[i]));
      classifier.buildClassifier(data);
      StringBuilder json = new StringBuilder("{\"attributes\":").append(attributes(data));
      appendTree(json, (ClassifierTree) field(J48.class, "m_root", classifier));
      if (classifier.getReducedErrorPruning()) {
        json.append(",\"pruning_rows\":").append(pruningRows(data, classifier.getNumFolds()));
      }
      json.append(",\"probabilities\":").append(probabilities(data, classifier));
      OUT.println(json.append("}"));
    }
  }

  /** Level order, as parallel arrays: the children of a node stand side by side, after those of every earlier node. */
  private static void appendTree(StringBuilder json, ClassifierTree root) throws Exception {
    List<ClassifierTree> nodes = new ArrayList<>();
    List<Integer> labels = new ArrayList<>();
    nodes.add(root);
    labels.add(distribution(root).maxClass());
    List<String> feature = new ArrayList<>(), threshold = new ArrayList<>(), firstChild = new ArrayList<>();
    List<String> weights = new ArrayList<>(), pruning = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      ClassifierTree node = nodes.get(i);
      Distribution own = distribution(node);
      Distribution held = (Distribution) field(ClassifierTree.class, "m_test", node);
      weights.add(perClass(own));
      pruning.add(held == null ? "null" : perClass(held));
      ClassifierSplitModel model = model(node);
      if ((Boolean) field(ClassifierTree.class, "m_isLeaf", node)) {
        feature.add("-1");
        threshold.add("null");
        firstChild.add("-1");
        continue;
      }
      double cut = (Double) field(C45Split.class, "m_splitPoint", model);
      feature.add(Integer.toString(((C45Split) model).attIndex()));
      threshold.add(cut == Double.MAX_VALUE ? "null" : Double.toString(cut));
      firstChild.add(Integer.toString(nodes.size()));
      ClassifierTree[] sons = (ClassifierTree[]) field(ClassifierTree.class, "m_sons", node);
      for (int s = 0; s < sons.length; s++) {
        nodes.add(sons[s]);
        // A leaf no row reached is labelled by its parent, which is what J48 prints.
        labels.add(Utils.gr(distribution(sons[s]).total(), 0) ? distribution(sons[s]).maxClass() : own.maxClass());
      }
    }
    json.append(",\"feature\":").append(feature).append(",\"threshold\":").append(threshold);
    json.append(",\"first_child\":").append(firstChild).append(",\"label\":").append(labels);
    json.append(",\"weight\":").append(weights);
    if (!pruning.contains("null")) {
      json.append(",\"pruning_weight\":").append(pruning);
    }
  }

  /** Which rows J48 -R keeps back for pruning: the last fold after stratification, before any shuffling. */
  private static List<Integer> pruningRows(Instances data, int folds) {
    Instances numbered = new Instances(data);
    numbered.insertAttributeAt(new Attribute("row number"), 0);
    for (int i = 0; i < numbered.numInstances(); i++) {
      numbered.instance(i).setValue(0, i);
    }
    numbered.stratify(folds);
    Instances held = numbered.testCV(folds, folds - 1);
    List<Integer> rows = new ArrayList<>();
    for (int i = 0; i < held.numInstances(); i++) {
      rows.add((int) held.instance(i).value(0));
    }
    rows.sort(null);
    return rows;
  }

  private static List<String> probabilities(Instances data, J48 classifier) throws Exception {
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < data.numInstances(); i++) {
      List<String> row = new ArrayList<>();
      for (double probability : classifier.distributionForInstance(data.instance(i))) {
        row.add(number(probability));
      }
      rows.add(row.toString());
    }
    return rows;
  }

  private static List<String> attributes(Instances data) {
    List<String> all = new ArrayList<>();
    for (int a = 0; a < data.numAttributes(); a++) {
      List<String> values = new ArrayList<>();
      values.add(quoted(data.attribute(a).name()));
      for (int v = 0; v < data.attribute(a).numValues(); v++) {
        values.add(quoted(data.attribute(a).value(v)));
      }
      all.add(values.toString());
    }
    return all;
  }

  private static String perClass(Distribution distribution) {
    List<String> row = new ArrayList<>();
    for (int c = 0; c < distribution.numClasses(); c++) {
      row.add(number(distribution.perClass(c)));
    }
    return row.toString();
  }

  private static Distribution distribution(ClassifierTree node) throws Exception {
    return model(node).distribution();
  }

  private static ClassifierSplitModel model(ClassifierTree node) throws Exception {
    return (ClassifierSplitModel) field(ClassifierTree.class, "m_localModel", node);
  }

  private static Object field(Class<?> owner, String name, Object object) throws Exception {
    Field field = owner.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(object);
  }

  private static String number(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
